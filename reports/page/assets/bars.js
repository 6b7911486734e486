// bars.js: times split into parts, as bars whose parts add up exactly.
'use strict';

// pathParts are the parts of a run's elapsed time: along its critical path, or where that
// was not recorded, of the slowest block. What is left over is a part too.
function pathParts(r) {
  const p = r.path;
  if (!p || !p.parts || !p.parts.length) return null;
  return p.parts.map(x => ({ name: x.cause, group: x.group, time: x.time_ps, count: x.count, what: x.what })).sort((a, b) => b.time - a.time);
}

// causeBar draws parts as one bar and a list of them.
function causeBar(parts, total, label) {
  const sum = parts.reduce((s, p) => s + p.time, 0);
  const lines = p => [p.name, span(p.time) + '  (' + exactUs(p.time) + ' us, ' + percent(p.time, total) + ')', p.what && T(p.what), p.group && T('part of the machine') + ': ' + T(p.group), p.count && grouped(p.count) + ' ' + T('times')];
  const marks = new Map();
  const light = (name, on) => { for (const e of marks.get(name) || []) e.classList.toggle('lit', on); };
  const both = (e, p) => {
    marks.set(p.name, [...(marks.get(p.name) || []), e]);
    for (const [a, on] of [['pointerenter', true], ['focus', true], ['pointerleave', false], ['blur', false]]) e.addEventListener(a, () => light(p.name, on));
    return hinted(e, () => lines(p));
  };
  const bar = el('div', { class: 'causes', role: 'list', 'aria-label': label }, parts.map(p => {
    const c = colour(p.name), wide = p.time / total > 0.09;
    return both(el('span', { class: 'cause', role: 'listitem', tabindex: 0, 'data-cause': p.name, 'aria-label': p.name + ': ' + us(p.time) + ' us, ' + percent(p.time, total), style: `flex:${p.time} 1 0;background:${c};color:${inkOn(c)}` }, wide ? p.name + ' ' + percent(p.time, total) : ''), p);
  }));
  const most = parts.reduce((m, p) => Math.max(m, p.time), 0);
  const rows = parts.map(p => both(el('tr', { 'data-cause': p.name },
    el('td', {}, el('i', { class: 'dot', style: 'background:' + colour(p.name) }), el('code', {}, p.name)),
    el('td', { class: 'right' }, exactUs(p.time)), el('td', { class: 'right' }, percent(p.time, total)),
    el('td', { class: 'meter' }, el('span', { style: `width:${100 * p.time / most}%;background:${colour(p.name)}` })),
    el('td', {}, p.what ? T(p.what) : '')), p));
  const foot = el('tr', { class: 'sum' }, el('td', {}, T('sum')), el('td', { class: 'right', 'data-sum': sum }, exactUs(sum)), el('td', { class: 'right' }, percent(sum, total)), el('td'),
    el('td', {}, sum === total ? T('exactly the elapsed time') : T('differs from the elapsed time by') + ' ' + span(total - sum)));
  return el('div', {}, bar, el('div', { class: 'scroll' }, el('table', { class: 'causelist' },
    el('thead', {}, el('tr', {}, [['cause'], ['us', 1], ['%', 1], [''], ['what it is']].map(([h, r]) => el('th', { class: r && 'right', scope: 'col' }, T(h))))), el('tbody', {}, rows, foot))));
}

// accounts draws what the blocks of each rank spent their time on: a bar a rank, the mean
// of its blocks, or a bar a block of one rank.
function accounts(r) {
  const calls = r.calls || [], blocks = (r.blocks || []).filter(b => calls[b.call] && calls[b.call].timed !== false);
  if (!blocks.length) return null;
  const bars = el('div', { class: 'accounts' + (new Set(blocks.map(b => b.rank)).size > 24 ? ' many' : '') });
  const names = Object.keys(blocks[0].time_ps), used = names.filter(n => blocks.some(b => b.time_ps[n] > 0));
  const ranks = [...new Set(blocks.map(b => b.rank))];
  const total = list => list.reduce((s, b) => s + names.reduce((t, n) => t + b.time_ps[n], 0), 0);
  const row = (name, list, act) => {
    const all = total(list);
    const track = el('div', { class: 'track' }, used.map(n => {
      const d = list.reduce((s, b) => s + b.time_ps[n], 0);
      if (!d) return null;
      const e = el('span', { style: `flex:${d} 1 0;background:${colour(n)}`, 'data-reason': n });
      return hinted(e, () => [name + ': ' + n, span(Math.round(d / list.length)) + (list.length > 1 ? ' ' + T('in the mean of its blocks') : ''), percent(d, all)]);
    }));
    return [act ? el('button', { type: 'button', class: 'link', onclick: act }, name) : el('span', {}, name), track];
  };
  const overview = () => bars.replaceChildren(...ranks.flatMap(k => row(T('rank') + ' ' + k, blocks.filter(b => b.rank === k), () => inside(k))));
  const inside = k => bars.replaceChildren(el('button', { type: 'button', class: 'link', onclick: overview }, '← ' + T('all ranks')), el('span', { class: 'note' }, T('rank') + ' ' + k),
    ...blocks.filter(b => b.rank === k).flatMap(b => row((calls.length > 1 ? calls[b.call].name + ', ' : '') + T('block') + ' ' + b.block, [b])));
  if (ranks.length > 1) overview(); else inside(ranks[0]);
  return el('div', {}, legend(used), bars);
}

function legend(names) { return el('div', { class: 'legend' }, names.map(n => el('span', {}, el('i', { class: 'dot', style: 'background:' + colour(n) }), n))); }

// signed draws values to both sides of a line: savings, sensitivities.
function signed(rows) {
  const most = rows.reduce((m, r) => Math.max(m, Math.abs(r.value)), 0) || 1;
  return el('div', { class: 'signed' }, rows.flatMap(r => [
    el('code', {}, r.name),
    hinted(el('div', { class: 'half', tabindex: 0, 'aria-label': r.name + ' ' + r.text }, el('span', { class: r.value < 0 ? 'minus' : 'plus', style: `width:${50 * Math.abs(r.value) / most}%` })), () => [r.name, r.text, ...(r.lines || [])]),
    el('span', { class: 'right' }, r.text),
  ]));
}
