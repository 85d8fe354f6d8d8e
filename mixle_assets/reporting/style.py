"""The style sheet of the report. Nothing is loaded: fonts are the reader's own."""

STYLE = """\
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1c1d22; --quiet: #646876; --line: #e3e4ea; --shade: #f6f6f9;
  --accent: #4f43dd; --kept: #2b8a5c; --dropped: #d06a2c; --declared: #a9a4ee;
  --good: #1f7a4d; --warn: #96610a; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15161a; --ink: #e7e8ee; --quiet: #9da1b0; --line: #2d2f38; --shade: #1d1f25;
    --accent: #8f86ff; --kept: #4fc08d; --dropped: #ef9657; --declared: #5a54a8;
    --good: #5fd39b; --warn: #f0b850; --bad: #ff8a80;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 1240px; padding: 32px 28px 64px; background: var(--paper); color: var(--ink);
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
code { font: 12px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { unicode-bidi: isolate; overflow-wrap: anywhere; }
.kind { margin: 0; color: var(--accent); font-weight: 600; letter-spacing: .04em; }
h1 { margin: 0 0 18px; font-size: 30px; line-height: 1.2; unicode-bidi: isolate; overflow-wrap: anywhere; }
h2 { margin: 0 0 4px; font-size: 20px; }
h3 { margin: 26px 0 6px; font-size: 15px; }
h3 code { font-size: 14px; }
.lead { margin: 0 0 14px; max-width: 78ch; color: var(--quiet); }
section { margin-top: 44px; scroll-margin-top: 12px; }
.cards { display: flex; flex-wrap: wrap; gap: 12px; margin: 0 0 20px; }
.wide { font-size: 13px; }
.cards div {
  display: flex; flex-direction: column; flex: 1 1 130px; padding: 12px 16px;
  border: 1px solid var(--line); border-radius: 10px; background: var(--shade);
}
.cards dd { margin: 0; font-size: 21px; font-weight: 600; font-variant-numeric: tabular-nums; }
.cards dt { color: var(--quiet); font-size: 13px; }
nav { display: flex; flex-wrap: wrap; gap: 4px 18px; }
nav { padding-bottom: 12px; border-bottom: 1px solid var(--line); }
a { color: var(--accent); text-decoration: none; }
a:hover, a:focus { text-decoration: underline; }
.scroll { overflow-x: auto; margin: 10px 0 22px; }
table { border-collapse: collapse; }
caption { padding: 4px 0 6px; color: var(--ink); font-weight: 600; text-align: left; white-space: nowrap; }
th, td { padding: 5px 14px 5px 0; text-align: left; vertical-align: top; }
th, td { border-bottom: 1px solid var(--line); }
thead th { color: var(--quiet); font-size: 12px; font-weight: 500; vertical-align: bottom; }
tbody th { font-weight: 400; }
.rules tbody th, .cellbar { white-space: nowrap; }
tbody tr:hover { background: var(--shade); }
td { font-variant-numeric: tabular-nums; }
.number { text-align: right; white-space: nowrap; }
.sums tbody tr:last-child > * { border-bottom: 0; font-weight: 600; }
.share { color: var(--quiet); font-size: 12px; white-space: nowrap; }
.matrix th, .matrix td { padding: 4px 10px; }
.matrix thead th, .matrix tbody th { color: var(--quiet); font-size: 12px; white-space: nowrap; }
.matrix tbody th { padding-left: 0; }
.heat { background: color-mix(in srgb, var(--dropped) var(--heat), transparent); }
.diagonal { background: var(--shade); font-weight: 600; }
.none { color: var(--line); }
.good, .warn, .bad { font-weight: 600; white-space: nowrap; }
.good { color: var(--good); } .good::before { content: "\\2713\\00a0"; }
.warn { color: var(--warn); } .warn::before { content: "!\\00a0"; }
.bad { color: var(--bad); } .bad::before { content: "\\2717\\00a0"; }
.quiet { color: var(--quiet); }
svg.cell { vertical-align: middle; }
.track { fill: var(--line); }
.bar { fill: var(--accent); }
.kept { fill: var(--kept); } .dropped { fill: var(--dropped); } .declared { fill: var(--declared); }
svg.histogram { display: block; }
svg.histogram .zero { fill: var(--quiet); opacity: .45; }
svg.histogram .bar:hover { fill: var(--dropped); }
.measures td, .measures th { vertical-align: middle; }
details { margin: 10px 0; }
summary { padding: 8px 12px; border: 1px solid var(--line); border-radius: 8px; }
summary { cursor: pointer; font-weight: 600; }
footer { margin-top: 56px; color: var(--quiet); font-size: 13px; }
.checks code { white-space: nowrap; }
@media (max-width: 760px) {
  td code, th code { white-space: nowrap; }
  body { padding: 20px 14px 40px; }
}
.wide th, .wide td:nth-child(2), .wide td:last-child { white-space: nowrap; }
@media print { details::details-content { content-visibility: visible; } nav { display: none; } }
"""
