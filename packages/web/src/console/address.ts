/** Scripts are served from `<prefix>/console/assets/`. The prefix may be set by a proxy. */
const ownFile = import.meta.url;

export const consolePath = new URL('../', ownFile).pathname.replace(/\/$/, '');
export const serverUrl = new URL('../..', ownFile).href.replace(/\/$/, '');
