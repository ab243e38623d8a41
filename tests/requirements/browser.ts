import { area } from '../requirement.ts';

export const browser = area('browser', 'done', [
  [
    'BRW-001',
    'docs/api/browser.md#post-v1usersuser_idbrowserfetch',
    "`POST /v1/users/{user_id}/browser/fetch` opens a page in a background tab of the user's browser and runs no model.",
  ],
  [
    'BRW-002',
    'docs/browser.md#watch-and-inspect',
    '`GET …/browser/cookies` accepts `domain` and `names` and returns which of those cookies the browser holds and until when.',
  ],
  [
    'BRW-003',
    'docs/browser.md#rules-of-a-fetch',
    'The cookies answer never carries a value, opens no page and wakes the computer.',
  ],
  [
    'BRW-004',
    'docs/api/browser.md#get-v1usersuser_idbrowsercookies',
    'The cookies of a site that is not allowed answer 403 `domain_not_allowed`.',
  ],
  [
    'BRW-005',
    'docs/api/browser.md#get-v1usersuser_idbrowserwatch',
    '`GET …/browser/watch` is a read-only `text/event-stream` of fetch tabs on allowed sites.',
  ],
  [
    'BRW-006',
    'docs/browser.md#rules-of-a-fetch',
    'The watch hides a tab on a blocked path and never wakes the computer.',
  ],
  [
    'BRW-007',
    'docs/api/users.md#get-v1usersuser_idscreenshot',
    '`GET …/screenshot` answers 409 `browser_in_use` while the screen is private.',
  ],
  ['BRW-008', 'docs/browser.md#rules-of-a-fetch', '`url` opens a page; omitted it continues a kept tab.'],
  [
    'BRW-009',
    'docs/browser.md#rules-of-a-fetch',
    'A fetch without `url` and without a kept tab answers 409 `no_open_tab`.',
  ],
  ['BRW-010', 'docs/api/browser.md#browserfetch', "`capture` collects the page's own data calls that match."],
  [
    'BRW-011',
    'docs/browser.md#rules-of-a-fetch',
    'The fetch answers as soon as every required capture has its responses.',
  ],
  [
    'BRW-012',
    'docs/api/browser.md#post-v1usersuser_idbrowserfetch',
    '`steps` accepts the kinds `click`, `type`, `scroll`, `wait_for`, `page_fetch` and no others.',
  ],
  [
    'BRW-013',
    'docs/browser.md#fetching-a-page',
    "`page_fetch` calls one of the deployment's sites from inside the page; another site is refused.",
  ],
  ['BRW-014', 'docs/api/browser.md#post-v1usersuser_idbrowserfetch', '`within_ms` of a click accepts at most 10000.'],
  ['BRW-015', 'docs/browser.md#fetching-a-page', '`nth` of a click counts from 1.'],
  ['BRW-016', 'docs/browser.md#fetching-a-page', '`near_text` of a click chooses the match nearest that text.'],
  [
    'BRW-017',
    'docs/browser.md#fetching-a-page',
    '`keep_open_ms` keeps the tab for the next fetch, and `tab` names it.',
  ],
  ['BRW-018', 'docs/browser.md#fetching-a-page', '`tag` names the tab in the watch.'],
  [
    'BRW-019',
    'docs/api/browser.md#post-v1usersuser_idbrowserfetch',
    "`front: true` opens in front of the person's window in a phone's shape.",
  ],
  ['BRW-020', 'docs/browser.md#fetching-a-page', "`front_device: desktop` opens the desktop page at a phone's shape."],
  [
    'BRW-021',
    'docs/api/browser.md#post-v1usersuser_idbrowserfetch',
    "`front_crop` makes a hand-off's screen show only that element.",
  ],
  ['BRW-022', 'docs/browser.md#fetching-a-page', '`private` keeps the tab out of the watch.'],
  ['BRW-023', 'docs/api/browser.md#browserfetch', '`frames` gives small pictures at milestones.'],
  [
    'BRW-024',
    'docs/api/browser.md#post-v1usersuser_idbrowserfetch',
    'A site outside `browser.allowed_domains` answers 403 `domain_not_allowed`.',
  ],
  [
    'BRW-025',
    'docs/browser.md#rules-of-a-fetch',
    'A redirect, frame or script that leads outside the allowed sites loads nothing from there.',
  ],
  ['BRW-026', 'docs/browser.md#rules-of-a-fetch', 'A page under `browser.blocked_paths` answers 403 `page_blocked`.'],
  ['BRW-027', 'docs/browser.md#fetching-a-page', 'A fetch while a person drives answers 409 `browser_in_use`.'],
  [
    'BRW-028',
    'docs/browser.md#fetching-a-page',
    "A fifth fetch at once in a user's browser answers 409 `browser_busy` with `retry_after_ms`.",
  ],
  [
    'BRW-029',
    'docs/browser.md#fetching-a-page',
    'A fetch past its time answers 504 `timeout` with what came in `partial`.',
  ],
  ['BRW-030', 'docs/api/browser.md#post-v1usersuser_idbrowserfetch', 'A fetch wakes a sleeping computer.'],
  ['BRW-031', 'docs/api/users.md#get-v1usersuser_idscreenshot', 'The screenshot answers `image/jpeg`.'],
  [
    'BRW-032',
    'docs/browser.md#fetching-a-page',
    "A fetch runs under the deployment named in `deployment`, else the user's default, else the org's.",
  ],
  [
    'BRW-033',
    'docs/browser.md#fetching-a-page',
    '`click` accepts `text`, `selector`, or `role` with `name`, and `within_ms`, `nth`, `near_text`.',
  ],
  ['BRW-034', 'docs/browser.md#fetching-a-page', '`type` accepts `into`, `text` and `submit`.'],
  [
    'BRW-035',
    'docs/api/browser.md#post-v1usersuser_idbrowserfetch',
    '`scroll` accepts `to`: `bottom`, `top` or pixels.',
  ],
  ['BRW-036', 'docs/browser.md#fetching-a-page', '`wait_for` accepts `text`, `selector` or `url`, and `within_ms`.'],
  ['BRW-037', 'docs/browser.md#fetching-a-page', '`page_fetch` accepts `url`, `method`, `headers`, `body`.'],
  [
    'BRW-038',
    'docs/api/browser.md#post-v1usersuser_idbrowserfetch',
    '`stage` is a label of 1 to 80 characters shown in the watch.',
  ],
  ['BRW-039', 'docs/api/browser.md#post-v1usersuser_idbrowserfetch', '`front_crop` is `{role?, name?, text?}`.'],
  [
    'BRW-040',
    'docs/browser.md#fetching-a-page',
    '`challenge: turnstile` waits up to `timeout_ms` for the check to pass by itself or in front of the person, and never solves it.',
  ],
  [
    'BRW-041',
    'docs/api/browser.md#browserfetch',
    'The answer is `{object: browser_fetch, url, status, title, tab, captures, steps, timings, frames}`, `tab` null when none is kept.',
  ],
  [
    'BRW-042',
    'docs/api/browser.md#browserfetch',
    'A capture is `{match, url, status, content_type, body, truncated}`; `body` is JSON when it is JSON, else text.',
  ],
  ['BRW-043', 'docs/api/browser.md#browserfetch', 'A step result is `{kind, ok, duration_ms, result}`.'],
  ['BRW-044', 'docs/api/browser.md#browserfetch', '`timings` is `{wake_ms, open_ms, capture_ms, total_ms}`.'],
  [
    'BRW-045',
    'docs/api/browser.md#post-v1usersuser_idbrowserfetch',
    '`match` is a substring, a glob with `*`, or `/regex/`.',
  ],
  [
    'BRW-046',
    'docs/browser.md#fetching-a-page',
    '`required` of a capture is true when absent; one with `required: false` is not waited for.',
  ],
  [
    'BRW-047',
    'docs/api/browser.md#post-v1usersuser_idbrowserfetch',
    '`timeout_ms` accepts 1000 to 60000 and is 20000 when absent.',
  ],
  [
    'BRW-048',
    'docs/browser.md#rules-of-a-fetch',
    "The agent's browser tools open, read, click, type, scroll, take a picture and close, within the same sites.",
  ],
  [
    'BRW-242',
    'docs/browser.md#hidden-pages',
    'While a page asks for a payment, neither the agent, a screenshot, the watch, a frame nor a view-only screen shows it.',
  ],
  [
    'BRW-243',
    'docs/browser.md#hidden-pages',
    'While a hand-off asks for a secret, its page is private until it is answered, given back or left.',
  ],
  [
    'BRW-241',
    'docs/browser.md#rules-of-a-fetch',
    'If a page hangs, the tool answers an error in its time; the server ends its process and the next call works.',
  ],
  ['BRW-181', 'docs/browser.md#confinement', 'A browser runs under the same filter of system calls as a computer.'],
  [
    'BRW-182',
    'docs/browser.md#confinement',
    'The storage of sites, the size of a profile and the memory of a browser are bounded; cookies outlast it.',
  ],
  [
    'BRW-700',
    'docs/browser.md#confinement',
    'A browser that is killed interrupts its fetch, also if it reports the page as failed first.',
  ],
]);
