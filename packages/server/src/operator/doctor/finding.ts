/** A result of the doctor. `fail` prevents something from working; `warn` will prevent it or is a surprise. */
export type Finding = {
  status: 'ok' | 'warn' | 'fail';
  about: string;
  what: string;
  remedy: string | null;
};

export const ok = (about: string, what: string): Finding => ({ status: 'ok', about, what, remedy: null });
export const warn = (about: string, what: string, remedy: string): Finding => ({ status: 'warn', about, what, remedy });
export const bad = (about: string, what: string, remedy: string): Finding => ({ status: 'fail', about, what, remedy });
