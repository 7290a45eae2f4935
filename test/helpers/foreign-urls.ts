/** Values of `return_to` that a login page must not follow: each leads, or might lead, to another site. */
export const FOREIGN_URLS = [
  'https://evil.example/', '//evil.example', '///evil.example', '/\\evil.example', '\\\\evil.example',
  '\\/evil.example', 'https:evil.example', 'javascript:alert(1)', 'data:text/html,x', '\t//evil.example',
  '/\t/evil.example', ' https://evil.example', 'http://site.invalid//evil.example',
  'http://site.invalid@evil.example', '/.//evil.example', ''
]
