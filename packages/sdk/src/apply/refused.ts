import { VestraError } from '../errors.ts';
import { ApplyError, problemOf } from './problem.ts';
import type { ServiceFile } from './service-file.ts';

/** Uploads something of a local path; a refusal of what it holds is a problem of that path. */
export async function uploading<Answer>(path: string, upload: () => Promise<Answer>): Promise<Answer> {
  try {
    return await upload();
  } catch (error) {
    if (!(error instanceof VestraError) || error.type !== 'invalid_request') throw error;
    const { code, param, message } = error;
    throw new ApplyError([{ ...problemOf(path, message), code, param }], { cause: error });
  }
}

/**
 * The service's refusal of a file as problems with their lines. `written` gives the file's own name for a place of what
 * was sent. What is not about the file stays the error it is.
 */
export function refusalOf(error: unknown, service: ServiceFile, written: (param: string) => string): unknown {
  if (!(error instanceof VestraError)) return error;
  const { code, param, message } = error;
  const faults = error.errors.length > 0 ? error.errors : param === null ? [] : [{ code, param, message }];
  if (faults.length === 0) return error;
  const problems = faults.map((fault) => ({
    ...service.problemAt(written(fault.param), fault.message),
    code: fault.code,
    param: fault.param,
  }));
  return new ApplyError(problems, { cause: error });
}
