/** The style of the reference page. One text, so that a strict content security policy can name its hash. */
export const docsStyle = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#fdfdfc, #131517);
  --raised: light-dark(#f5f5f2, #1b1e21);
  --line: light-dark(#e4e3de, #2c3035);
  --text: light-dark(#1d2023, #e4e5e6);
  --soft: light-dark(#5a6068, #a3a9b1);
  --accent: light-dark(#0b6157, #6fcfbf);
  --get: light-dark(#1f6b3a, #7fd19b);
  --post: light-dark(#1d57a5, #8fbcf5);
  --put: light-dark(#8a5300, #e7b866);
  --delete: light-dark(#a3262c, #f29a9d);
  --mono: ui-monospace, "SF Mono", "Cascadia Code", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1.5rem; -webkit-text-size-adjust: 100%; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body {
  margin: 0; background: var(--ground); color: var(--text);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
a { color: inherit; text-decoration-color: var(--line); text-underline-offset: 0.2em; }
a:hover { color: var(--accent); text-decoration-color: currentColor; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
code, pre, .method, .status { font-family: var(--mono); font-size: 0.875em; }
p code, td code, summary code { background: var(--raised); border-radius: 4px; padding: 0.1em 0.3em; }
var { font-style: normal; color: var(--accent); }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 1rem; background: var(--ground); padding: 0.5rem 1rem; z-index: 2; }

.page { display: grid; grid-template-columns: 17.5rem minmax(0, 1fr); }
.side {
  position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 2rem 1.25rem 3rem 1.75rem;
  background: var(--raised); border-right: 1px solid var(--line); font-size: 0.9rem; scrollbar-width: thin;
}
.brand { margin: 0 0 1.5rem; font-size: 1.1rem; font-weight: 650; letter-spacing: -0.01em; }
.brand a { text-decoration: none; }
.brand span { margin-left: 0.4rem; color: var(--soft); font-weight: 400; font-size: 0.8rem; }
.side h2 { margin: 1.4rem 0 0.3rem; font-size: 0.75rem; font-weight: 600; color: var(--soft); letter-spacing: 0.04em; text-transform: uppercase; }
.side h2 a { text-decoration: none; }
.side ul { list-style: none; margin: 0; padding: 0; }
.side li a { display: grid; grid-template-columns: 2.9rem 1fr; align-items: baseline; padding: 0.2rem 0; line-height: 1.35; text-decoration: none; }
.side .method { font-size: 0.65rem; }
.contents { display: none; }

main { padding: 3rem clamp(1.5rem, 4vw, 4rem) 6rem; max-width: 84rem; }
.intro { max-width: 44rem; }
h1 { margin: 0 0 0.3rem; font-size: 2rem; line-height: 1.2; letter-spacing: -0.02em; }
.lead { margin: 0 0 1.5rem; color: var(--soft); font-size: 1.1rem; }
.group { margin-top: 4.5rem; }
.group > h2 { margin: 0; font-size: 1.5rem; letter-spacing: -0.015em; }
.group > p { margin: 0.25rem 0 0; color: var(--soft); }
article { margin-top: 2rem; padding-top: 2rem; border-top: 1px solid var(--line); }
article h3 { margin: 0; font-size: 1.15rem; letter-spacing: -0.01em; }
article h3 a { text-decoration: none; }
article:target h3 { color: var(--accent); }
.route { margin: 0.5rem 0 0; overflow-wrap: anywhere; }
.route code { font-size: 0.9rem; }
.auth { margin: 0.35rem 0 0; color: var(--soft); font-size: 0.875rem; }
.method { font-weight: 650; letter-spacing: 0.02em; }
.get { color: var(--get); } .post { color: var(--post); } .put, .patch { color: var(--put); } .delete { color: var(--delete); }
.words > p { margin: 1rem 0 0; max-width: 44rem; }
h4 { margin: 1.75rem 0 0.25rem; font-size: 0.875rem; font-weight: 650; }

table { width: 100%; border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.6rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; line-height: 1.5; }
tr:first-child > * { border-top: 0; }
th { width: 42%; padding-right: 1.25rem; font-weight: 400; overflow-wrap: anywhere; }
th code { font-weight: 600; overflow-wrap: anywhere; }
.required { color: var(--delete); font-size: 0.75rem; white-space: nowrap; }
.type { display: block; color: var(--soft); font-size: 0.8rem; }
.bounds { margin: 0.15rem 0 0; color: var(--soft); font-size: 0.8rem; }
td code { font-size: 0.85em; }

.answers { font-size: 0.9rem; }
.answer { border-top: 1px solid var(--line); }
.answer:first-child { border-top: 0; }
.answer > p, summary { display: flex; gap: 0.75rem; margin: 0; padding: 0.5rem 0; align-items: baseline; }
summary { cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary::after { content: "+"; margin-left: auto; color: var(--soft); font-family: var(--mono); }
details[open] > summary::after { content: "\\2212"; }
details.answer[open] { padding-bottom: 1rem; }
.answer table, .sent { margin: 0; padding-left: 0; }
.sent { color: var(--soft); font-size: 0.8rem; padding-bottom: 0.4rem; }
.status { font-weight: 650; }
.good { color: var(--get); } .bad { color: var(--soft); }

.code { margin: 1.25rem 0 0; border: 1px solid var(--line); border-radius: 8px; background: var(--raised); overflow: hidden; }
figcaption { padding: 0.45rem 0.9rem; border-bottom: 1px solid var(--line); color: var(--soft); font-size: 0.75rem; }
pre { margin: 0; padding: 0.8rem 0.9rem; max-height: 26rem; overflow: auto; font-size: 0.9rem; line-height: 1.55; tab-size: 2; scrollbar-width: thin; }
pre code { font-size: 0.8125rem; }
.text { color: var(--get); } .value { color: var(--put); }

@media (min-width: 75rem) {
  article { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 30rem); column-gap: 3rem; }
  article > header { grid-column: 1 / -1; }
  .examples { align-self: start; position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow-y: auto; scrollbar-width: thin; }
}
@media (max-width: 56rem) {
  .page { display: block; }
  .side { display: none; }
  .contents { display: block; margin: 1.5rem 0 0; border: 1px solid var(--line); border-radius: 8px; background: var(--raised); padding: 0 1rem; }
  .contents h2 { margin: 1rem 0 0.2rem; font-size: 0.8rem; color: var(--soft); }
  .contents ul { list-style: none; margin: 0; padding: 0 0 0.5rem; }
  .contents li a { display: grid; grid-template-columns: 3.4rem 1fr; padding: 0.35rem 0; text-decoration: none; align-items: baseline; }
  .contents .method { font-size: 0.7rem; }
  main { padding: 1.75rem 1.15rem 4rem; }
  .group { margin-top: 3.25rem; }
}
@media (max-width: 40rem) {
  table, tbody, tr, th, td { display: block; width: auto; }
  th, td { padding: 0; border: 0; }
  tr { padding: 0.65rem 0; border-top: 1px solid var(--line); }
  tr:first-child { border-top: 0; }
  td { margin-top: 0.2rem; }
  .type { display: inline; margin-left: 0.5rem; }
}
@media print {
  .side, .contents, .examples { display: none; }
  .page { display: block; }
}
`;
