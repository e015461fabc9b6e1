// Tables that are in the page as HTML: a click on a heading sorts.
{
  const key = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  for (const table of document.querySelectorAll('table.sortable')) {
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, column) => heading.querySelector('button')?.addEventListener('click', () => {
      const up = heading.getAttribute('aria-sort') !== 'ascending';
      for (const other of headings) other.removeAttribute('aria-sort');
      heading.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const numeric = heading.classList.contains('number');
      const compare = (a, b) => numeric ? key(a, column) - key(b, column) : key(a, column).localeCompare(key(b, column));
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort((a, b) => up ? compare(a, b) : compare(b, a)));
    }));
  }
}
