type Mode = 'test' | 'live';

/** Explains how to add money if a limit prevented a run; null for other reasons. */
export function moneyHint(codes: readonly (string | null)[], mode: string): string | null {
  if (codes.includes('wallet_empty')) {
    return `The ${mode} wallet is empty. The operator adds money with: vestra admin credit --org <org id> --mode ${mode} --usd 50 (\`vestra me\` shows the org id).`;
  }
  if (codes.includes('org_cap_reached') || codes.includes('user_cap_reached')) {
    return `A cap of ${mode} mode is reached: \`vestra limits get\` shows it, \`vestra limits update\` raises it.`;
  }
  return null;
}

export const modeOfKey = (key: string | null): Mode => (key?.startsWith('vk_live_') ? 'live' : 'test');

/** The same for a test run, whose scenarios end separately. */
export const moneyHintOfRun = (run: {
  mode: string;
  error_code: string | null;
  results: readonly { error_code: string | null }[];
}): string | null => moneyHint([run.error_code, ...run.results.map(({ error_code }) => error_code)], run.mode);
