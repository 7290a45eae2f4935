/** The one script. While an attempt is in progress, it fetches the page again and shows the new state. */
export const SCRIPT = `
(() => {
  const announce = document.getElementById('announce')
  const opened = (root) => new Set([...root.querySelectorAll('details[open]')].map(({ id }) => id))
  const replace = (text) => {
    const live = document.getElementById('live')
    const next = new DOMParser().parseFromString(text, 'text/html').getElementById('live')
    if (live.innerHTML === next.innerHTML) return
    const open = opened(live)
    const focused = document.activeElement && document.activeElement.id
    live.replaceWith(next)
    for (const id of open) { const found = document.getElementById(id); if (found) found.open = true }
    if (focused && document.getElementById(focused)) document.getElementById(focused).focus()
    if (announce.textContent !== next.dataset.announced) announce.textContent = next.dataset.announced
  }
  const poll = async () => {
    const live = document.getElementById('live')
    if (!live || live.dataset.ended === 'true') return
    try {
      const response = await fetch(location.href, { cache: 'no-store' })
      if (response.ok) replace(await response.text())
    } catch {}
    setTimeout(poll, 700)
  }
  setTimeout(poll, 400)
})()
`
