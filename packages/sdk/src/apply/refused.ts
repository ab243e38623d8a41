import { VestraError } from '../errors.ts';
import { ApplyError, type Problem, problemOf } from './problem.ts';
import type { ServiceFile } from './service-file.ts';

/** Runs an upload and reports a rejection of its content as a problem of the local path. */
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
 * Converts the service's rejection of a file to problems with line numbers. `written` maps a location in the request to
 * the file. Errors that are not about the file are returned unchanged.
 */
export function refusalOf(error: unknown, service: ServiceFile, written: (param: string) => string): unknown {
  if (!(error instanceof VestraError)) return error;
  const { code, param, message } = error;
  const faults = error.errors.length > 0 ? error.errors : param === null ? [] : [{ code, param, message }];
  if (faults.length === 0) return error;
  return new ApplyError(problemsOf(faults, service, written), { cause: error });
}

type ServiceFault = { code: string; param: string; message: string };

/** The service's faults of a file, with their lines. */
export const problemsOf = (
  faults: readonly ServiceFault[],
  service: ServiceFile,
  written: (param: string) => string,
): Problem[] => faults.map(({ code, param, message }) => ({ ...service.problemAt(written(param), message), code }));
