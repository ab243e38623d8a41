/** What reads YAML, as a file that can be required in the bundle too. */
export { parse } from 'yaml';
