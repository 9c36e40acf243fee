/** The part of the page's script that makes elements: served as it stands here. */
export const tables = String.raw`
export const find = (selector) => document.querySelector(selector);

/** An element with text, a class, attributes and children: text is never read as HTML. */
export function element(name, { text, tone, children = [], ...attributes } = {}) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = String(text);
  if (tone) made.className = tone;
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const words = (name) => name.replaceAll('_', ' ').replaceAll(/[A-Z]/g, (letter) => ' ' + letter.toLowerCase());

export function duration(ms) {
  if (ms === null || ms === undefined) return '–';
  const seconds = Math.abs(ms) / 1000;
  const text = seconds < 60 ? seconds.toFixed(1) + ' s' : seconds < 3600 ? Math.floor(seconds / 60) + ' min ' + Math.floor(seconds % 60) + ' s' : Math.floor(seconds / 3600) + ' h ' + Math.floor((seconds % 3600) / 60) + ' min';
  return ms < 0 ? '−' + text : text;
}

const tones = { live: 'good', dead: 'bad', unknown: 'warn', applied: 'good', hold: 'bad', redrive: 'warn', converge: 'warn', started: 'warn', succeeded: 'good', failed: 'bad' };
export const toned = (text) => element('b', { text, tone: tones[text] });

/** A table: roles are said, for on a narrow screen its parts are no boxes of a table any more. */
export function table(title, heads, rows) {
  const head = element('tr', { role: 'row', children: heads.map((text) => element('th', { text, tone: text === 'orders' ? 'orders' : undefined, role: 'columnheader', scope: 'col' })) });
  return element('table', {
    role: 'table',
    'aria-labelledby': title,
    children: [
      element('thead', { role: 'rowgroup', children: [head] }),
      element('tbody', { role: 'rowgroup', children: rows.map(({ key, cells }) => row(heads, key, cells)) }),
    ],
  });
}

function row(heads, key, cells) {
  const made = cells.map((content, index) => {
    const children = Array.isArray(content) ? [element('span', { children: content })] : [content instanceof Node ? content : String(content ?? '–')];
    return element('td', { role: 'cell', 'data-head': heads[index], children });
  });
  return element('tr', { role: 'row', 'data-key': key, children: made });
}

/** Puts a table in the place of the one before: what has not changed stays, so that focus and half a click survive. */
export function place(where, made, count) {
  const old = where.firstElementChild;
  if (count === 0) {
    if (old?.contains(document.activeElement)) where.focus();
    where.replaceChildren();
  } else if (old === null) {
    where.replaceChildren(made);
  } else {
    const [before, now] = [old.tBodies[0], made.tBodies[0]];
    const known = new Map([...before.rows].map((each) => [each.dataset.key, each]));
    const rows = [...now.rows].map((each) => merged(known.get(each.dataset.key), each));
    const lost = before.contains(document.activeElement) && !rows.some((each) => each.contains(document.activeElement));
    for (const each of [...before.rows]) if (!rows.includes(each)) each.remove();
    // A row that is taken out and put back loses the focus: those that are in their place stay there.
    rows.forEach((each, index) => {
      if (before.rows[index] !== each) before.insertBefore(each, before.rows[index] ?? null);
    });
    if (lost) where.focus();
  }
}

function merged(old, now) {
  if (old === undefined) return now;
  [...now.cells].forEach((cell, index) => {
    if (!old.cells[index]?.isEqualNode(cell)) old.cells[index]?.replaceWith(cell);
  });
  return old;
}

const isPlain = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Any value, for people: an object as its names and values, a list of objects as a table. */
export function shown(value, title) {
  if (value === null || value === undefined || value === '') return element('span', { text: '–' });
  if (Array.isArray(value) && value.length > 0 && value.every(isPlain)) return listed(value, title);
  if (Array.isArray(value)) return element('span', { text: value.length === 0 ? 'none' : value.map((each) => (isPlain(each) ? JSON.stringify(each) : each)).join(', ') });
  if (!isPlain(value)) return typeof value === 'string' ? toned(value) : element('span', { text: value });
  return element('dl', {
    tone: 'facts',
    children: Object.entries(value).flatMap(([name, part]) => [element('dt', { text: words(name) }), element('dd', { children: [shown(part, title)] })]),
  });
}

/** A list of objects as a table of all their names. */
export function listed(items, title) {
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const cellOf = (value) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : value);
  const rows = items.map((item, index) => ({ key: item.id ?? index, cells: names.map((name) => cellOf(item[name])) }));
  return table(title, names.map(words), rows);
}
`;
