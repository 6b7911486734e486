// main.js: puts the page together.
'use strict';

const page = JSON.parse(document.getElementById('data').textContent);
page.results.forEach((r, i) => { r.number = i; });
const state = { tab: 0 };

function verdictBox(res) {
  const lead = res.sheet.lead || [], first = lead[0] || '', r = res.run && res.run.result;
  const status = r ? r.status : '';
  const good = r ? status === 'ok' : !/^(WRONG|ABORTED|DEADLOCK|HAZARD|INCONSISTENT|different)/i.test(first);
  if (res.kind === 'sweep') {
    const s = res.sweep, n = s.status.length, ok = s.status.filter(k => s.words[k] === 'ok').length;
    const rest = new Map();
    for (const k of s.status) if (s.words[k] !== 'ok') rest.set(s.words[k], (rest.get(s.words[k]) || 0) + 1);
    return el('div', {}, el('p', { class: 'verdict' + (ok + (rest.get('not_possible') || 0) === n ? ' good' : ' bad') }, n + ' ' + T('points') + ': ' + ok + ' ' + T('ok') + [...rest].map(([k, c]) => ', ' + c + ' ' + T(k)).join('')), s.advice && s.advice.length ? el('div', { class: 'lead', 'data-advice': true }, adviceBox(s)) : null);
  }
  const verdict = r ? zhVerdict(first) : first;
  return el('div', {}, first && el('p', { class: 'verdict ' + (good ? 'good' : 'bad'), 'data-verdict': status }, verdict),
    r ? lead.slice(1).filter(l => !(res.sentences || []).includes(l)).map(l => el('p', { class: 'warn' }, l)) : lead.slice(1).map(l => el('p', {}, l)),
    res.sentences && res.sentences.length ? el('ul', { class: 'lead', 'data-sentences': true }, sentences(res).map(x => el('li', {}, x))) : null);
}

// adviceBox lists what is recommended for what: eight groups at once.
function adviceBox(s) {
  const line = a => el('li', {}, a.for ? [el('strong', {}, T('for') + ' ' + a.for), ': '] : null, inChinese(a.text));
  const list = s.advice.slice(0, 8).map(line), rest = s.advice.slice(8);
  const beyond = s.advice.some(a => /\d\*/.test(a.text)) ? el('p', { class: 'note' }, '* ' + T('outside what was measured')) : null;
  return [el('ul', {}, list), beyond, rest.length ? later({}, '+ ' + rest.length + ' ' + T('more'), () => el('ul', {}, rest.map(line))) : null];
}

function resultPanel(res) {
  const many = page.results.length > 1;
  const panel = el('article', { role: many ? 'tabpanel' : undefined, id: 'panel' + res.number, 'aria-labelledby': many ? 'tab' + res.number : undefined, hidden: res.number !== state.tab });
  const title = el('h1', {}, res.sheet.title), name = el('p', { class: 'note' }, res.name + ' · ' + T(res.kind));
  panel.append(title, name, verdictBox(res));
  if (res.run) panel.append(tiles(res), ...runSections(res), origins(res, page.accuracy));
  else if (res.sweep) panel.append(...sweepSections(res), origins(res, page.accuracy));
  else if (res.validation) panel.append(...validationSections(res));
  else if (res.diff) panel.append(...diffSections(res));
  const sheet = sheetSection(res, !res.run && !res.sweep);
  if (sheet) panel.append(sheet);
  return panel;
}

// beside compares the headline figures of several runs.
function beside() {
  const runs = page.results.filter(r => r.run);
  if (runs.length < 2) return null;
  const first = runs[0].metrics.elapsed_ps;
  return section('beside', 'Side by side', grid([
    { name: 'result', cell: r => el('button', { type: 'button', class: 'link', onclick: () => choose(r.number) }, r.sheet.title), key: r => r.sheet.title },
    { name: 'file', cell: r => r.name }, { name: 'status', cell: r => T(r.metrics.status) },
    { name: 'us', right: true, cell: r => us(r.metrics.elapsed_ps), key: r => r.metrics.elapsed_ps }, { name: 'of the first', right: true, cell: r => (first ? (100 * r.metrics.elapsed_ps / first).toFixed(1) + ' %' : '') },
    { name: 'busbw GB/s', right: true, cell: r => gbps(r.metrics.busbw_bytes_per_s) }, { name: 'reached %', right: true, cell: r => (r.metrics.bound_reached_millionths / 1e4).toFixed(1) }, { name: 'bound by', cell: r => r.metrics.bound_by },
  ], runs), runs.map(r => { const p = pathParts(r.run.result); return p && el('div', { class: 'besides' }, el('span', {}, tabName(r.number)), el('div', { class: 'causes slim', style: `width:${100 * r.metrics.elapsed_ps / Math.max(...runs.map(q => q.metrics.elapsed_ps))}%` }, p.map(x => hinted(el('span', { style: `flex:${x.time} 1 0;background:${colour(x.name)}` }), () => [x.name, us(x.time) + ' us', percent(x.time, r.metrics.elapsed_ps)])))); }));
}

function choose(i) {
  state.tab = i;
  page.results.forEach((_, k) => {
    const tab = document.getElementById('tab' + k), panel = document.getElementById('panel' + k);
    if (tab) { tab.setAttribute('aria-selected', k === i); tab.tabIndex = k === i ? 0 : -1; }
    if (panel) panel.hidden = k !== i;
  });
}

// tabName is the title of a result, cut where it is long; what several have in common is told apart by the file, else by number.
function tabName(i) {
  const brief = r => (r.sheet.title.length > 44 ? r.sheet.title.slice(0, 42) + '…' : r.sheet.title), r = page.results[i];
  const same = page.results.filter(q => brief(q) === brief(r));
  if (same.length === 1) return brief(r);
  const files = same.filter(q => q.name === r.name);
  return brief(r) + ' · ' + r.name + (files.length > 1 ? ' (' + (files.indexOf(r) + 1) + ')' : '');
}

function tabs() {
  if (page.results.length < 2) return null;
  const list = el('div', { role: 'tablist', class: 'tabs screen', 'aria-label': T('results') }, page.results.map((r, i) => el('button', { type: 'button', role: 'tab', id: 'tab' + i, 'aria-controls': 'panel' + i, 'aria-selected': i === state.tab, tabindex: i === state.tab ? 0 : -1, title: r.sheet.title + '\n' + r.name, onclick: () => choose(i) }, tabName(i))));
  list.addEventListener('keydown', ev => {
    const d = { ArrowRight: 1, ArrowLeft: -1 }[ev.key];
    if (!d) return;
    ev.preventDefault();
    choose((state.tab + d + page.results.length) % page.results.length);
    document.getElementById('tab' + state.tab).focus();
  });
  return list;
}

function build() {
  onTheme.clear();
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  const other = language === 'zh' ? 'English' : '中文';
  const head = el('header', { class: 'top screen' }, el('a', { class: 'skip', href: '#main' }, T('to the content')), el('span', { class: 'brand' }, 'pldperf'), el('span', { class: 'note grow' }, page.title),
    el('button', { type: 'button', id: 'language', lang: language === 'zh' ? 'en' : 'zh-CN', 'aria-label': T('language') + ': ' + other, onclick: () => { language = language === 'zh' ? 'en' : 'zh'; remember('language', language); build(); document.getElementById('language').focus(); } }, other),
    el('button', { type: 'button', id: 'theme', 'aria-label': T('light or dark'), onclick: toggleTheme }, '◐ ' + T('light or dark')));
  const panels = page.results.map(resultPanel);
  document.getElementById('app').replaceChildren(head, el('main', { id: 'main' }, beside(), tabs(), panels), hint);
  hideHint();
}

addEventListener('keydown', ev => { if (ev.key === 'Escape') hideHint(); });
let language = recall('language') || ((navigator.language || '').startsWith('zh') ? 'zh' : 'en');
if (recall('theme')) document.documentElement.dataset.theme = recall('theme');
const begun = performance.now();
build();
document.documentElement.dataset.ready = (performance.now() - begun).toFixed(0); // ms that the page took to put together
