import { type ErrorCode, type Failure, type Fault, fail } from '@vestra/contract/errors';

export const fault = (code: ErrorCode, param: string, message: string): Fault => ({ code, param, message });

/** A hostile file could have a hundred thousand faults; nobody reads more than these. */
const mostFaults = 100;

/** One failure for all faults; its code and place are the first one's. */
export function refusal(faults: readonly [Fault, ...Fault[]], missingSecrets: readonly string[] = []): Failure {
  const [{ code, param, message }] = faults;
  return fail(code, {
    param,
    message,
    errors: faults.slice(0, mostFaults),
    ...(missingSecrets.length > 0 && { names: [...missingSecrets] }),
  });
}

/** Whether there is anything to refuse. */
export const isRefused = (faults: readonly Fault[]): faults is readonly [Fault, ...Fault[]] => faults.length > 0;

/** As what was sent reads from top to bottom, whichever check found what; `at` is what stands before each path. */
export function inOrderOf(keys: readonly string[], faults: readonly Fault[], at = ''): Fault[] {
  const place = ({ param }: Fault) => {
    const [key = '', index = ''] = param.slice(at.length).split('.');
    return [keys.indexOf(key), /^\d+$/.test(index) ? Number(index) : -1] as const;
  };
  return [...faults].sort((one, other) => {
    const [key, index] = place(one);
    const [otherKey, otherIndex] = place(other);
    return key - otherKey || index - otherIndex;
  });
}
