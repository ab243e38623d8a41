/**
 * The SQLSTATE of a failed statement. Drizzle wraps what `pg` threw and puts the statement and its values into the
 * message, so neither the class nor the message of the outer error is to be looked at or shown.
 */
export function sqlState(error: unknown): string | undefined {
  for (let each = error; each instanceof Error; each = each.cause) {
    const code = (each as { code?: unknown }).code;
    if (typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code)) return code;
  }
  return undefined;
}
