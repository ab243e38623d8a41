/** A separate file, so that the bundle can load YAML with `require` too. */
export { parse } from 'yaml';
