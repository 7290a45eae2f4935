/** The one stylesheet of the simulator: light and dark, wide and narrow, no external resource. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f7fb, #0e1220); --surface: light-dark(#fff, #171c2d); --line: light-dark(#e3e6ef, #2a3149);
  --text: light-dark(#1b2136, #e8ebf6); --muted: light-dark(#5a627a, #9aa3bf); --accent: light-dark(#4f46e5, #a29dff);
  --good: light-dark(#0b7a53, #5fd3a3); --bad: light-dark(#b4233c, #ff8fa0); --wait: light-dark(#8a5a00, #f0bd62);
}
* { box-sizing: border-box; margin: 0; padding: 0 }
body { background: var(--ground); color: var(--text); overflow-wrap: anywhere; font: 16px/1.55 system-ui, sans-serif }
ol, ul { list-style: none }
a, summary { color: var(--accent) }
h1 { font-size: 1.9rem; line-height: 1.2 }
h2 { font-size: 1.1rem; margin-bottom: .5rem }
h3 { font-size: 1rem }
code, pre { font: .84em/1.6 ui-monospace, monospace; white-space: pre-wrap }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px }
.hidden, .skip { position: absolute; left: -999px }
.skip:focus { left: 1rem; top: 1rem; background: var(--surface); padding: .5rem 1rem }
.wrap { max-width: 1120px; margin: auto; padding: 0 1.5rem }
header { border-bottom: 1px solid var(--line); padding: 1.2rem 0 }
.brand { font-weight: 600; color: var(--text); text-decoration: none; margin-right: 1.5rem }
main { padding: 2.5rem 0 }
.lede { margin-bottom: 2rem }
.lede p { margin-top: .6rem; max-width: 44rem }
.quiet, header, dt { color: var(--muted); font-size: .9rem }
.chip, .dot { background: var(--ground); border: 1px solid; border-radius: 1rem; font-size: .8rem; font-weight: 600 }
.chip { padding: .1rem .7rem }
.dot { position: absolute; left: 0; width: 1.75rem; height: 1.75rem; display: grid; place-items: center }
.pass, .done, .expected { color: var(--good) }
.fail, .failed { color: var(--bad) }
.running, .untested, .advice { color: var(--wait) }
.card, header { background: var(--surface) }
.card { border: 1px solid var(--line); border-radius: 14px; padding: 1.5rem; margin-bottom: 1.75rem }
.card:has(#problem) { border-color: var(--bad) }
.columns { display: grid; column-gap: 1.75rem; align-items: start; grid-template-columns: minmax(0, 1fr) }
@media (min-width: 940px) {
  .columns { grid-template: auto auto 1fr / minmax(0, 1fr) 22.5rem }
  .columns > .card { grid-column: 2 }
  .columns > :has(#steps) { grid-column: 1; grid-row: 1 / span 3 }
}
dl div, li, .quiet + h3, dl + details { margin-top: .8rem }
h3 + dl div { margin-top: .3rem }
.beside, .actions { display: flex; gap: 1rem; align-items: center; flex-wrap: wrap }
.beside div { flex: 1 1 12rem }
.actions { margin-top: 1.4rem }
.button { padding: .5rem 1.1rem; border-radius: 9px; border: 1px solid var(--line); text-decoration: none }
.actions .button:first-child { background: var(--accent); color: var(--surface) }
.step { position: relative; padding-left: 2.6rem }
.wire { border-left: 3px solid var(--line); padding-left: 1rem }
`
