/** The one stylesheet of the simulator: calm, readable, light and dark, no external resource. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f6f7fb; --surface: #fff; --sunken: #f3f4f9; --line: #e3e6ef; --text: #1b2136; --muted: #5a627a;
  --accent: #4f46e5; --accent-text: #fff; --accent-soft: #eeedfd;
  --good: #0b7a53; --good-soft: #e5f5ee; --bad: #b4233c; --bad-soft: #fcebee; --wait: #8a5a00; --wait-soft: #fdf3e0;
  --shadow: 0 1px 2px rgb(27 33 54 / .06), 0 8px 24px -12px rgb(27 33 54 / .16);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e1220; --surface: #171c2d; --sunken: #111626; --line: #2a3149; --text: #e8ebf6; --muted: #9aa3bf;
    --accent: #a29dff; --accent-text: #14123a; --accent-soft: #24234a;
    --good: #5fd3a3; --good-soft: #12332a; --bad: #ff8fa0; --bad-soft: #3a1a24; --wait: #f0bd62; --wait-soft: #362a14;
    --shadow: 0 1px 2px rgb(0 0 0 / .4), 0 8px 24px -12px rgb(0 0 0 / .6);
  }
}
*, *::before, *::after { box-sizing: border-box }
body {
  margin: 0; background: var(--ground); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  -webkit-font-smoothing: antialiased;
}
h1, h2, h3, p, dl, dd, ol, ul, pre { margin: 0; padding: 0 }
ol, ul { list-style: none }
a { color: var(--accent); text-underline-offset: .18em }
code, pre, .mono {
  font: .84em/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
  overflow-wrap: anywhere;
}
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: 6px }
.skip { position: absolute; left: -999px }
.skip:focus { left: 1rem; top: 1rem; background: var(--surface); padding: .5rem 1rem; z-index: 1 }
.wrap { max-width: 1120px; margin: 0 auto; padding: 0 1.5rem }
.top { background: var(--surface); border-bottom: 1px solid var(--line) }
.top .wrap {
  display: flex; align-items: center; gap: .15rem 1.5rem; min-height: 4rem; padding-top: .7rem;
  padding-bottom: .7rem; flex-wrap: wrap;
}
.brand {
  display: inline-flex; align-items: center; gap: .6rem; font-weight: 650; color: var(--text);
  text-decoration: none; letter-spacing: -.01em;
}
.brand svg { width: 1.6rem; height: 1.6rem; color: var(--accent) }
.brand { margin-right: auto }
.top .where { color: var(--muted); font-size: .9rem }
main { padding: 2.75rem 0 4rem }
.lede { max-width: 44rem; margin-bottom: 2rem }
.lede h1 {
  font-size: clamp(1.7rem, 3.4vw, 2.3rem); line-height: 1.2; letter-spacing: -.025em; font-weight: 680;
  overflow-wrap: anywhere;
}
.lede p { text-wrap: pretty; color: var(--muted); margin-top: .6rem; font-size: 1.06rem }
.chip {
  display: inline-flex; align-items: center; gap: .45rem; border-radius: 99px; padding: .18rem .75rem;
  font-size: .84rem; font-weight: 600; margin-bottom: .9rem;
}
.chip::before { content: ""; width: .5rem; height: .5rem; border-radius: 50%; background: currentColor }
.good { color: var(--good); background: var(--good-soft) }
.bad { color: var(--bad); background: var(--bad-soft) }
.wait { color: var(--wait); background: var(--wait-soft) }
.columns { display: grid; gap: 1.75rem; grid-template-columns: minmax(0, 1fr); align-items: start }
@media (min-width: 940px) {
  .columns { grid-template-columns: minmax(0, 1fr) 22.5rem; grid-template-rows: auto 1fr }
  .main { grid-column: 1; grid-row: 1 / span 2 }
  .first, .last { grid-column: 2 }
}
.wide { margin-bottom: 1.75rem }
.stack { display: grid; gap: 1.75rem; grid-template-columns: minmax(0, 1fr) }
.card {
  background: var(--surface); border: 1px solid var(--line); border-radius: 14px; box-shadow: var(--shadow);
  padding: 1.5rem;
}
.card > h2, .section > h2 { font-size: 1.06rem; font-weight: 650; letter-spacing: -.01em; margin-bottom: .25rem }
.card > .hint, .section > .hint { color: var(--muted); font-size: .92rem; margin-bottom: 1.1rem }
.problem { border-color: var(--bad) } .notice { border-color: var(--wait) }
.countdown { font-size: 1.6rem; font-weight: 650; font-variant-numeric: tabular-nums }
.lede p.countdown { color: var(--text) }
.causes { display: grid; gap: 1.2rem 2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)) }
.causes h3 { font-size: 1rem; font-weight: 620; margin-bottom: .2rem }
.causes .chip { margin: 0 0 0 .4rem; vertical-align: .1rem; padding: .02rem .6rem }
.causes p { font-size: .92rem; color: var(--muted) } .causes p + p { margin-top: .25rem }
.causes b { font-weight: 600; color: var(--text) }
.service-page {
  display: block; width: 100%; height: 22rem; background: #fff; color-scheme: light;
  border: 1px solid var(--line); border-radius: 10px
}
.facts { display: grid; gap: .9rem }
.facts + .facts { margin-top: 1.2rem }
.facts dt { color: var(--muted); font-size: .84rem; font-weight: 550 }
.facts dd { overflow-wrap: anywhere }
.facts.rows > div {
  display: grid; grid-template-columns: minmax(7rem, 9rem) minmax(0, 1fr); gap: 1rem; align-items: baseline;
}
@media (max-width: 540px) { .facts.rows > div { grid-template-columns: minmax(0, 1fr); gap: .1rem } }
.facts.rows > div + div { border-top: 1px solid var(--line); padding-top: .9rem }
.role { border-radius: 10px; background: var(--sunken); padding: .85rem 1rem }
.role b { display: block; font-weight: 620 }
.role span { color: var(--muted); font-size: .92rem }
.person { display: flex; gap: .9rem; align-items: center; margin-bottom: 1.2rem }
.person div { min-width: 0; overflow-wrap: anywhere }
.person strong { display: block; font-size: 1.08rem }
.person div span { color: var(--muted); font-size: .92rem }
.face {
  flex: none; width: 2.9rem; height: 2.9rem; border-radius: 50%; display: grid; place-items: center;
  background: var(--accent-soft); color: var(--accent); font-weight: 680;
}
.button {
  display: inline-flex; align-items: center; gap: .5rem; padding: .62rem 1.15rem; border-radius: 9px;
  border: 1px solid var(--line); background: var(--surface); color: var(--text); font: inherit; font-weight: 600;
  text-decoration: none; cursor: pointer;
}
.button:hover { border-color: var(--accent); color: var(--accent) }
.button.main { background: var(--accent); border-color: var(--accent); color: var(--accent-text) }
.button.main:hover { filter: brightness(1.08); color: var(--accent-text) }
.button.small { padding: .34rem .8rem; font-size: .9rem; border-radius: 8px }
.actions { display: flex; gap: .75rem; flex-wrap: wrap; margin-top: 1.4rem }
.trials li { display: flex; gap: 1.25rem; align-items: center; padding: .95rem 0 }
.trials li + li { border-top: 1px solid var(--line) }
.trials li:last-child { padding-bottom: 0 }
.trials .button { margin-left: auto; flex: none }
.trials h3 { font-size: 1rem; font-weight: 600 }
.trials p { font-size: .92rem }
.trials .hopes { color: var(--muted) }
.leg + .leg { margin-top: 1.6rem }
.leg > h3 {
  font-size: .8rem; font-weight: 650; color: var(--muted); text-transform: uppercase; letter-spacing: .06em;
  margin-bottom: .9rem;
}
.step {
  position: relative; display: grid; grid-template-columns: 1.75rem minmax(0, 1fr) auto; gap: 0 .9rem;
  padding-bottom: 1.05rem;
}
.step:not(:last-child)::before {
  content: ""; position: absolute; left: .84rem; top: 1.9rem; bottom: .1rem; width: 2px; background: var(--line);
}
.step .dot { grid-row: span 2 }
.told { grid-column: 2 / -1 }
.dot {
  width: 1.75rem; height: 1.75rem; border-radius: 50%; display: grid; place-items: center; font-size: .8rem;
  font-weight: 650; font-variant-numeric: tabular-nums; background: var(--sunken); color: var(--muted);
  border: 1px solid var(--line);
}
.dot svg { width: .95rem; height: .95rem }
.done .dot { background: var(--good-soft); color: var(--good); border-color: transparent }
.failed .dot { background: var(--bad-soft); color: var(--bad); border-color: transparent }
.expected .dot { background: var(--good-soft); color: var(--good) }
.running .dot {
  background: var(--wait-soft); color: var(--wait); border-color: transparent;
  animation: breathe 1.6s ease-in-out infinite;
}
@keyframes breathe { 50% { box-shadow: 0 0 0 5px var(--wait-soft) } }
@media (prefers-reduced-motion: reduce) { .running .dot { animation: none } }
.step .what { font-weight: 500 }
.step.waiting .what { color: var(--muted); font-weight: 450 }
.step .note { color: var(--muted); font-size: .92rem; overflow-wrap: anywhere }
.step.failed .note { color: var(--bad) }
.step.expected .note { color: var(--good) }
.step .took {
  color: var(--muted); font-size: .84rem; font-variant-numeric: tabular-nums; padding-top: .15rem;
  white-space: nowrap;
}
.actor {
  color: var(--muted); font-size: .8rem; font-weight: 550; padding-top: .2rem; font-variant-numeric: tabular-nums;
}
details { margin-top: .45rem }
summary {
  cursor: pointer; color: var(--accent); font-size: .88rem; font-weight: 550; width: fit-content;
  overflow-wrap: anywhere;
}
.wire {
  border: 1px solid var(--line); border-radius: 10px; background: var(--sunken); padding: .8rem 1rem;
  margin-top: .6rem;
}
.wire h4 { margin: 0 0 .35rem; font-size: .78rem; color: var(--muted); font-weight: 620 }
.wire h4:not(:first-child) { margin-top: .9rem }
.wire pre { white-space: pre-wrap }
.wire dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .1rem .9rem }
.wire dt { color: var(--muted) }
.bar { display: flex; align-items: baseline; gap: 1rem; flex-wrap: wrap; margin-bottom: 1.25rem }
.bar h2 { font-size: 1.06rem; font-weight: 650; letter-spacing: -.01em }
.bar a { margin-left: auto; font-size: .9rem }
.list li + li { border-top: 1px solid var(--line) }
.list a {
  display: flex; gap: .9rem; align-items: baseline; padding: .7rem 0; text-decoration: none; color: var(--text);
}
.list a:hover b { color: var(--accent) }
.list b { font-weight: 450; overflow-wrap: anywhere }
.list span { color: var(--muted); font-size: .88rem; margin-left: auto; white-space: nowrap }
.list .chip { margin: 0; align-self: center; padding: .1rem .6rem }
.list i {
  font-style: normal; flex: none; width: .6rem; height: .6rem; border-radius: 50%; background: currentColor;
  align-self: center;
}
.list i.good { color: var(--good) }
.list i.bad { color: var(--bad) }
.list i.wait { color: var(--wait) }
.quiet { color: var(--muted) }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
footer { color: var(--muted); font-size: .88rem; border-top: 1px solid var(--line); padding: 1.5rem 0 2.5rem }
`
