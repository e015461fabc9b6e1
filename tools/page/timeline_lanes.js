// The lanes of a timeline as it is drawn: columns as typed arrays with the running begin, and what a slice is drawn as.
const laneFamilies = ['tensor', 'data', 'pipeline', 'context', 'expert'];
const timelineLanes = part => {
  const lanes = [];
  part.stages.forEach((stage, s) => stage.lanes.forEach((lane, l) => {
    const count = lane.gap.length, begin = new Float64Array(count), length = Float64Array.from(lane.length);
    let at = 0;
    for (let i = 0; i < count; ++i) { begin[i] = at += lane.gap[i]; at += lane.length[i]; }
    lanes.push({...lane, begin, length, stage: s, first: l === 0, isCompute: lane.dimension === 'compute' || lane.dimension === 'host'});
  }));
  const family = dimension => ['expert data', 'expert tensor'].includes(dimension) ? 'expert-data'
    : laneFamilies.find(name => dimension.startsWith(name)) ?? (dimension === 'communication' ? dimension : 'model');
  const kindOf = (lane, i) => lane.call && lane.call[i] >= 0 ? family(lane.dimension) : lane.dimension === 'host' ? 'other' : part.labels[lane.label[i]][1];
  for (const lane of lanes) {
    lane.kinds = [...new Set(Array.from(lane.label, (_, i) => kindOf(lane, i)))];
    lane.kind = Uint8Array.from(lane.label, (_, i) => lane.kinds.indexOf(kindOf(lane, i)));
  }
  return lanes;
};

// The first slice of a lane that ends at a time or later.
const firstEndingAfter = (lane, time) => {
  let low = 0, high = lane.begin.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.begin[middle] + lane.length[middle] < time) low = middle + 1; else high = middle;
  }
  return low;
};

// Links over time, the busiest class first; none where they were not recorded.
const timelineLinks = part => part.links.map(link => ({...link, at: Float64Array.from(link.at)}));

// The last of ascending times that is not after a time; -1: all are.
const lastBegunAt = (at, time) => {
  let low = 0, high = at.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at[middle] <= time) low = middle + 1; else high = middle;
  }
  return low - 1;
};
