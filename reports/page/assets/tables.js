// tables.js: tables that sort by their headings and filter by words.
'use strict';

// order compares cells: numbers as numbers, what begins with no number as text.
function order(a, b) {
  const x = parseFloat(String(a).replace(/,/g, '')), y = parseFloat(String(b).replace(/,/g, ''));
  if (!isNaN(x) && !isNaN(y)) return x - y;
  if (!isNaN(x) !== !isNaN(y)) return isNaN(x) ? 1 : -1;
  return String(a).localeCompare(String(b));
}

// grid makes a table. columns: {name, right, title, cell(row) -> text or element, key(row)};
// options: filter (a field above), caption, limit of rows shown at once.
function grid(columns, rows, options = {}) {
  let by = -1, up = true, words = '';
  const body = el('tbody'), heads = columns.map((c, j) => {
    const b = el('button', { type: 'button', class: 'sort', onclick: () => { up = by === j ? !up : true; by = j; fill(); } }, T(c.name));
    return el('th', { scope: 'col', class: c.right ? 'right' : '', title: c.title && T(c.title), 'aria-sort': 'none' }, c.name ? b : '');
  });
  const text = (c, r) => { const v = (c.key || c.cell)(r); return v instanceof Node ? v.textContent : v; };
  const count = el('span', { class: 'note', 'aria-live': 'polite' });
  const limit = options.limit || Infinity;
  let open = false;
  const more = el('button', { type: 'button', class: 'link', hidden: true, onclick: () => { open = true; fill(); } });
  const fill = () => {
    let list = rows.filter(r => !words || words.toLowerCase().split(/\s+/).every(w => columns.some(c => String(text(c, r)).toLowerCase().includes(w))));
    if (by >= 0) { const c = columns[by]; list = list.slice().sort((a, b) => (up ? 1 : -1) * order(text(c, a), text(c, b))); }
    heads.forEach((h, j) => h.setAttribute('aria-sort', j !== by ? 'none' : up ? 'ascending' : 'descending'));
    count.textContent = list.length === rows.length ? '' : list.length + ' / ' + rows.length;
    const shown = open || words ? list : list.slice(0, limit);
    more.hidden = shown.length === list.length;
    more.textContent = T('show all') + ' (' + list.length + ')';
    body.replaceChildren(...shown.map(r => el('tr', options.row ? options.row(r) : {}, columns.map(c => el('td', { class: c.right ? 'right' : '' }, c.cell(r))))));
  };
  fill();
  const field = options.filter && el('label', { class: 'field screen' }, el('span', {}, T('filter')), el('input', { type: 'search', oninput: ev => { words = ev.target.value.trim(); fill(); } }), count);
  return el('div', {}, field, el('div', { class: 'scroll' }, el('table', {}, options.caption && el('caption', {}, options.caption), el('thead', {}, el('tr', {}, heads)), body)), more);
}

// sheetTable shows a table as text and markdown lay it out.
function sheetTable(t) {
  const rows = t.rows || [];
  const table = rows.length ? grid(t.head.map((h, j) => ({ name: h, right: t.right[j], cell: r => r[j] || '' })), rows, { limit: 200 }) : null;
  return el('div', { class: 'sheet' }, t.title && el('h3', {}, T(t.title)), table, (t.notes || []).map(n => el('p', { class: 'note' }, n)));
}
