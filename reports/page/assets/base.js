// base.js: elements, numbers, colours, the hint that follows the pointer, theme and language.
'use strict';

// el makes an element: attributes, listeners (on...), then children (text is never HTML).
function el(tag, attrs, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attrs || {})) {
    if (v === undefined || v === null) continue;
    if (k.startsWith('aria-')) { e.setAttribute(k, String(v)); continue; } // which are true or false in words
    if (v === false) continue;
    if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (k === 'style') e.style.cssText = v; // set so, a Content-Security-Policy allows it
    else e.setAttribute(k, v === true ? '' : v);
  }
  for (const c of children.flat(Infinity)) if (c !== null && c !== undefined) e.append(c);
  return e;
}

// ---- numbers: documents hold picoseconds, bytes a second, millionths ----

// grouped writes an integer with commas.
function grouped(n) { return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ','); }

// exactUs writes picoseconds as microseconds, to the picosecond.
function exactUs(ps) {
  const sign = ps < 0 ? '-' : '', a = Math.abs(ps), whole = Math.floor(a / 1e6), rest = a - whole * 1e6;
  return sign + grouped(whole) + '.' + String(rest).padStart(6, '0');
}

// us writes picoseconds as microseconds for people.
function us(ps) { return grouped((ps / 1e6).toFixed(Math.abs(ps) < 1e9 ? 3 : 1)); }

// span writes a time with the unit that suits it.
function span(ps) {
  const a = Math.abs(ps);
  if (a < 1e3) return ps + ' ps';
  if (a < 1e6) return +(ps / 1e3).toPrecision(6) + ' ns';
  if (a < 1e9) return +(ps / 1e6).toPrecision(7) + ' us';
  return +(ps / 1e9).toPrecision(7) + ' ms';
}

function gbps(rate) { return (rate / 1e9).toFixed(rate < 1e11 ? 2 : 1); }
function percent(part, whole) { return whole ? (100 * part / whole).toFixed(1) + ' %' : 'n/a'; }

// bytes writes bytes: powers of 1024 where they are whole, else the number.
function bytes(n) {
  for (const [u, f] of [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 1024]]) {
    if (n >= f) return (n % f === 0 ? n / f : +(n / f).toPrecision(4)) + ' ' + u;
  }
  return grouped(n) + ' B';
}

// ---- colours ----

const hues = {
  launch: '#7c6bf0', skew: '#a69cf5', notice: '#9d8df0', scalar: '#b58a4f', index_check: '#c8a02c', count_read: '#dd7d2a',
  simt_build: '#9b51c4', doorbell: '#cf2f74', signal_issue: '#128f80', signal_wait: '#8d98ab', poll_overshoot: '#6f7f98',
  mte2: '#2b7fdb', mte3: '#3c9f4b', stage_wait: '#8fb6e8', cqe_wait: '#de8d8d', remote_wait: '#b59c92', fence: '#74503f',
  pipe_barrier: '#8a6757', vector: '#b52b66', compute: '#e2572b', dependency_wait: '#a7b3c2', idle: '#c3cad5', between_calls: '#c3cad5',
  ingress: '#1769aa', ingress_queue: '#6fb1e0', egress: '#0f766e', egress_queue: '#6cc2b8', wire: '#0e9db3', uplink: '#4a6fa5', uplink_queue: '#9db7dd',
  remote_mte: '#6a8f2f', remote_mte_queue: '#a9c777', remote_hop: '#839c5a', memory_rate: '#a8792b', memory_latency: '#cfa55d',
  signal_wire: '#1fa38f', signal_sector: '#57b8a5', doorbell_wire: '#dc6a9b', wqe_fetch: '#8a4fd0', nic_engine: '#d4573b', nic_engine_queue: '#eba08c',
  sge_gather: '#b05fd1', queue_order: '#cc9ee0', wqe_gap: '#d3bfe0', ack: '#4d9e8f', cqe_write: '#c95757', cqe_drain: '#d87474', timeout: '#d32020',
  sdma_start: '#7a8a3a', sdma_rate: '#94a545', sdma_queue: '#c0cc8a', fetch: '#8a4fd0', gather: '#b05fd1', land: '#1769aa', cqe: '#c95757',
};

// colour returns that of a cause; of what has none, one by its name.
function colour(name) {
  if (hues[name]) return hues[name];
  let h = 0;
  for (let i = 0; i < name.length; i++) h = (h * 31 + name.charCodeAt(i)) >>> 0;
  return hues[name] = hsl(h % 360, 45, 52);
}

function hsl(h, s, l) {
  const f = n => {
    const k = (n + h / 30) % 12, a = s / 100 * Math.min(l / 100, 1 - l / 100);
    return Math.round(255 * (l / 100 - a * Math.max(-1, Math.min(k - 3, 9 - k, 1)))).toString(16).padStart(2, '0');
  };
  return '#' + f(0) + f(8) + f(4);
}

// inkOn is black or white, whichever reads better on a colour.
function inkOn(hex) {
  const [r, g, b] = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
  return r * 0.299 + g * 0.587 + b * 0.114 > 150 ? '#10151d' : '#ffffff';
}

const series = ['#2b7fdb', '#dd7d2a', '#3c9f4b', '#cf2f74', '#7c6bf0', '#0e9db3', '#b58a4f', '#8a4fd0', '#6a8f2f', '#d4573b', '#57b8a5', '#6f7f98'];

// css reads a colour of the style sheet, for canvases.
function css(name) { return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim(); }

// ---- the hint ----

const hint = el('div', { id: 'hint', role: 'tooltip', hidden: true });

// showHint shows lines (the first is a heading) beside a point of the window.
function showHint(x, y, lines) {
  hint.replaceChildren(...lines.filter(Boolean).map((l, i) => el('div', { class: i ? '' : 'head' }, l)));
  hint.hidden = false;
  const w = hint.offsetWidth, h = hint.offsetHeight;
  hint.style.left = Math.max(4, Math.min(x + 14, innerWidth - w - 8)) + 'px';
  hint.style.top = (y + 18 + h > innerHeight ? Math.max(4, y - h - 10) : y + 18) + 'px';
}

function hideHint() { hint.hidden = true; }

// hinted shows lines while the pointer or the focus is on an element.
function hinted(e, lines) {
  e.addEventListener('pointermove', ev => showHint(ev.clientX, ev.clientY, lines()));
  e.addEventListener('pointerleave', hideHint);
  e.addEventListener('focus', () => { const r = e.getBoundingClientRect(); showHint(r.left, r.bottom - 12, lines()); });
  e.addEventListener('blur', hideHint);
  return e;
}

// ---- theme ----

const onTheme = new Set(); // what redraws its canvases

function retheme() { for (const f of onTheme) f(); }

function dark() {
  const t = document.documentElement.dataset.theme;
  return t ? t === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

function toggleTheme() {
  document.documentElement.dataset.theme = dark() ? 'light' : 'dark';
  remember('theme', document.documentElement.dataset.theme);
  retheme();
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', retheme);

// remember keeps a choice for the next page, where the browser allows it.
function remember(key, value) { try { localStorage.setItem('pldperf.' + key, value); } catch { /* a file may not */ } }
function recall(key) { try { return localStorage.getItem('pldperf.' + key); } catch { return null; } }

// canvas makes one that is sharp on this screen; draw(g, width, height) draws it, now and
// whenever its size or the theme changes.
function canvas(attrs, draw) {
  const c = el('canvas', attrs), g = c.getContext('2d');
  let asked = false;
  const redraw = () => {
    asked = false;
    const w = c.clientWidth, h = c.clientHeight, d = devicePixelRatio || 1;
    if (!w || !h) return;
    if (c.width !== Math.round(w * d) || c.height !== Math.round(h * d)) { c.width = Math.round(w * d); c.height = Math.round(h * d); }
    g.setTransform(d, 0, 0, d, 0, 0);
    draw(g, w, h);
  };
  c.redraw = () => { if (!asked) { asked = true; requestAnimationFrame(redraw); } };
  new ResizeObserver(c.redraw).observe(c);
  onTheme.add(c.redraw);
  return c;
}

function section(id, title, ...children) {
  return el('section', { 'data-section': id, 'aria-label': T(title) }, el('h2', {}, T(title)), ...children);
}

// later is what can be opened; its contents are made when it is.
function later(attrs, summary, make) {
  const d = el('details', attrs, el('summary', {}, summary));
  let made = false;
  const fill = () => { if (d.open && !made) { made = true; d.append(...[make()].flat(Infinity)); } };
  d.addEventListener('toggle', fill);
  fill();
  return d;
}

function button(label, title, act, attrs) { return el('button', { type: 'button', title: T(title), 'aria-label': T(title), onclick: act, ...attrs }, label); }

function select(label, options, value, act) {
  const s = el('select', { onchange: () => act(s.value) }, options.map(([v, text]) => el('option', { value: v, selected: String(v) === String(value) }, text)));
  return el('label', { class: 'field' }, el('span', {}, label), s);
}
