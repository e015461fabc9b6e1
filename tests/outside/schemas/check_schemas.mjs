// Applies weft's schemas to every file that weft ships, and to each with a wrong key in each of its objects.
//
//   node check_schemas.mjs AJV SCHEMAS SOURCE    AJV: its bundle; SCHEMAS: a folder of <kind>.schema.json
//
// Exit code 0: the files pass, and pass no more with a wrong key; 1: not so.
import fs from 'node:fs';
import path from 'node:path';
import {createRequire} from 'node:module';

const [bundle, schemas, source] = process.argv.slice(2);
const Ajv = createRequire(import.meta.url)(path.resolve(bundle)).default;

// JSON as the standard has it: comments are left out, and strings that look like them kept.
const plain = (text) => JSON.parse(text.replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[^]*?\*\//g, (_, string) => string ?? ''));

const examples = 'tools/schema/examples';
const files_in = (folder, begin = '') => fs.readdirSync(path.join(source, folder))
    .filter((file) => file.endsWith('.json') && file.startsWith(begin)).map((file) => path.join(folder, file));
const files = {
  device: [...files_in('models/devices'), ...files_in(examples, 'device')],
  job: [...files_in('workloads/jobs'), ...files_in(examples, 'job')],
  machine: [...files_in('topologies/machines'), ...files_in(examples, 'machine')],
  model: [...files_in('models/catalog'), ...files_in(examples, 'model')],
};

let failures = 0;
function fail(what) {
  failures++;
  console.log(`FAIL ${what}`);
}

function* objects(value, at = '') {
  if (value === null || typeof value !== 'object') return;
  if (!Array.isArray(value)) yield [value, at];
  for (const [key, inner] of Object.entries(value)) yield* objects(inner, `${at}/${key}`);
}

for (const [kind, paths] of Object.entries(files)) {
  const schema = JSON.parse(fs.readFileSync(path.join(schemas, `${kind}.schema.json`), 'utf8'));
  const ajv = new Ajv({strict: true, strictTypes: false, strictRequired: false, allErrors: false});
  const validate = ajv.compile(schema);
  let wrong_keys = 0;
  for (const file of paths) {
    const document = plain(fs.readFileSync(path.join(source, file), 'utf8'));
    if (!validate(document)) fail(`${file}: ${ajv.errorsText(validate.errors)}`);
    document.$schema = `${kind}.schema.json`;
    if (!validate(document)) fail(`${file} with "$schema": ${ajv.errorsText(validate.errors)}`);
    for (const [object, at] of objects(document)) {
      object['no such key'] = true;
      if (validate(document)) fail(`${file} passes with a wrong key in ${at || 'its root'}`);
      delete object['no such key'];
      wrong_keys++;
    }
  }
  console.log(`ok   ${kind}: ${paths.length} files pass; ${wrong_keys} wrong keys were tried`);
}
process.exit(failures === 0 ? 0 : 1);
