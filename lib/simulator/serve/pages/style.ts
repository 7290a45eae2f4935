/** The one stylesheet of the simulator: calm, readable, light and dark, no external resource. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f6f7fb; --surface: #fff; --sunken: #f3f4f9; --line: #e3e6ef; --text: #1b2136; --muted: #5a627a;
  --accent: #4f46e5; --accent-text: #fff;
  --good: #0b7a53; --good-soft: #e5f5ee; --bad: #b4233c; --bad-soft: #fcebee; --wait: #8a5a00; --wait-soft: #fdf3e0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e1220; --surface: #171c2d; --sunken: #111626; --line: #2a3149; --text: #e8ebf6; --muted: #9aa3bf;
    --accent: #a29dff; --accent-text: #14123a;
    --good: #5fd3a3; --good-soft: #12332a; --bad: #ff8fa0; --bad-soft: #3a1a24; --wait: #f0bd62; --wait-soft: #362a14;
  }
}
* { box-sizing: border-box; margin: 0; padding: 0 }
body {
  background: var(--ground); color: var(--text); overflow-wrap: anywhere;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
ol, ul { list-style: none }
a { color: var(--accent); text-underline-offset: .18em }
code, pre, .mono { font: .84em/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace }
pre { white-space: pre-wrap }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: 6px }
.hidden, .skip { position: absolute; left: -999px }
.skip:focus { left: 1rem; top: 1rem; background: var(--surface); padding: .5rem 1rem }
.wrap { max-width: 1120px; margin: auto; padding: 0 1.5rem }
header { background: var(--surface); border-bottom: 1px solid var(--line); padding: 1.2rem 0 }
.brand { font-weight: 650; color: var(--text); text-decoration: none; margin-right: 1.5rem }
main { padding: 2.75rem 0 4rem }
footer { border-top: 1px solid var(--line); padding: 1.5rem 0 2.5rem }
.lede { max-width: 44rem; margin-bottom: 2rem }
h1 { font-size: clamp(1.7rem, 3.4vw, 2.3rem); line-height: 1.2; letter-spacing: -.025em; font-weight: 680 }
h2 { font-size: 1.06rem; font-weight: 650 }
h3 { font-size: 1rem; font-weight: 600 }
.quiet, .lede p, header, footer, dt, h4 { color: var(--muted) }
.small, dt, h4, summary { font-size: .9rem }
.lede p { margin-top: .6rem; font-size: 1.06rem }
.lede .countdown { color: var(--text); font-size: 1.6rem; font-weight: 650; font-variant-numeric: tabular-nums }
.chip { display: inline-block; border-radius: 99px; padding: .1rem .7rem; font-size: .84rem; font-weight: 600 }
.lede .chip { margin-bottom: .9rem }
.dot {
  position: absolute; left: 0; width: 1.75rem; height: 1.75rem; border-radius: 50%; display: grid;
  place-items: center; font-size: .8rem; font-weight: 650; background: var(--sunken); color: var(--muted);
}
.good { color: var(--good); background: var(--good-soft) }
.bad { color: var(--bad); background: var(--bad-soft) }
.wait { color: var(--wait); background: var(--wait-soft) }
.columns, .stack, dl { display: grid; grid-template-columns: minmax(0, 1fr) }
.columns, .stack { gap: 1.75rem; align-items: start }
dl { gap: .9rem }
@media (min-width: 940px) {
  .columns { grid-template: auto 1fr / minmax(0, 1fr) 22.5rem }
  .main { grid-column: 1; grid-row: 1 / span 2 }
  .first, .last { grid-column: 2 }
}
.card { background: var(--surface); border: 1px solid var(--line); border-radius: 14px; padding: 1.5rem }
.card > * + * { margin-top: 1.1rem }
.card > h2 + .quiet { margin-top: .25rem }
.card > dl + h2 { margin-top: 1.75rem }
.wide { margin-bottom: 1.75rem }
.problem { border-color: var(--bad) }
.notice { border-color: var(--wait) }
iframe { display: block; width: 100%; height: 22rem; background: #fff; border: 1px solid var(--line) }
.rows > li { padding: .8rem 0 }
.rows > li + li { border-top: 1px solid var(--line) }
.rows > li:last-child { padding-bottom: 0 }
.beside { display: flex; gap: 1rem; align-items: center; justify-content: space-between; flex-wrap: wrap }
.beside > div { flex: 1 1 12rem }
.button {
  display: inline-block; padding: .5rem 1.1rem; border-radius: 9px; border: 1px solid var(--line);
  background: var(--surface); color: var(--text); font-weight: 600; text-decoration: none;
}
.button:hover { border-color: var(--accent) }
.button.main { background: var(--accent); border-color: var(--accent); color: var(--accent-text) }
.actions { display: flex; gap: .75rem; flex-wrap: wrap; margin-top: 1.4rem }
.leg > h3 { margin-bottom: .8rem }
.step { position: relative; padding: 0 0 1.05rem 2.6rem }
.step::before {
  content: ""; position: absolute; left: .84rem; top: 1.9rem; bottom: .1rem; width: 2px; background: var(--line);
}
.step:last-child::before { content: none }
details { margin-top: .45rem }
summary { cursor: pointer; color: var(--accent); width: fit-content }
.wire { border: 1px solid var(--line); border-radius: 10px; background: var(--sunken); padding: .8rem 1rem }
.wire * + h4 { margin-top: .9rem }
.wire dl { grid-template-columns: auto minmax(0, 1fr); gap: .1rem .9rem }
`
