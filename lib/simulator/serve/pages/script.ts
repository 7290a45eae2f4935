/** The one script. While a sign-in is in progress, it fetches the page again, and reloads it when it has changed. */
export const SCRIPT = `
(() => {
  let seen
  const poll = async () => {
    try {
      const text = await (await fetch(location.href, { cache: 'no-store' })).text()
      if (text.includes('data-ended="true"') || text !== (seen ??= text)) location.reload()
    } catch {}
  }
  if (document.querySelector('[data-ended=false]')) setInterval(poll, 700)
})()
`
