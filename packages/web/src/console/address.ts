/** Where this console stands. Its files lie in `<prefix>/console/assets/`, wherever a proxy put the prefix. */
const ownFile = import.meta.url;

export const consolePath = new URL('../', ownFile).pathname.replace(/\/$/, '');
export const serverUrl = new URL('../../', ownFile).href.replace(/\/$/, '');
