import { errorRemedies } from '@vestra/contract/error-remedies';
import { type ErrorCode, errorCatalogue } from '@vestra/contract/errors';
import { ApplyError } from '@vestra/sdk/apply';
import { VestraError } from '@vestra/sdk/errors';
import { CommanderError } from 'commander';
import { CommandFault } from './fault.ts';
import { modeOfKey, moneyHint } from './money-hint.ts';
import { plain } from './output/show-value.ts';
import type { Settings } from './settings.ts';
import type { Terminal } from './terminal.ts';

/** `settings`: the server and key of the request, if there was one. */
type Said = { isJson: boolean; isDebug: boolean; settings?: Settings | null };

/** Prints an error to standard error and returns the exit code. Keys are always removed. */
export function printError(terminal: Terminal, error: unknown, { isJson, isDebug, settings = null }: Said): number {
  if (isJson) terminal.err(withoutKeys(`${JSON.stringify(bodyOf(error), null, 2)}\n`));
  else
    terminal.err(
      withoutKeys(`${terminal.paintError('red', '✖')} ${sentencesOf(terminal, error, settings).join('\n  ')}\n`),
    );
  if (isDebug && error instanceof Error) terminal.err(`${withoutKeys(error.stack ?? error.message)}\n`);
  if (error instanceof CommandFault) return error.exitCode;
  return error instanceof CommanderError || isMistyped(error) ? 2 : 1;
}

/** An error found by the command itself, not by the service: the typed values do not fit together. */
const isMistyped = (error: unknown): boolean =>
  error instanceof VestraError && error.code === 'invalid_request' && error.body === undefined;

/** The API's error body, or one of the same shape. */
function bodyOf(error: unknown): unknown {
  if (error instanceof ApplyError) {
    return { error: folderError(error) };
  }
  if (error instanceof VestraError) {
    if (isBody(error.body)) return error.body;
    const { type, code, param } = error;
    return { error: { type, code, message: messageOf(error), ...(param !== null && { param }) } };
  }
  const isMisuse = error instanceof CommanderError || (error instanceof CommandFault && error.exitCode === 2);
  const param = error instanceof CommandFault && error.param ? { param: error.param } : {};
  const { type, code } = (error instanceof CommandFault && error.told) || (isMisuse ? misused : failedHere);
  return { error: { type, code, message: messageOf(error), ...param } };
}

const misused = { type: 'invalid_request', code: 'invalid_command' };
const failedHere = { type: 'internal', code: 'command_failed' };

/** The API's rejection of the file, or local faults in the same shape. */
function folderError({ cause, problems }: ApplyError): unknown {
  const told = cause instanceof VestraError && isBody(cause.body) ? (cause.body as { error: object }).error : {};
  const faults = problems.map(({ file, line, column, message, code, param }) => ({
    code: code ?? 'invalid_folder',
    param: param ?? file,
    message,
    file,
    line,
    column,
  }));
  return { type: 'invalid_request', ...told, ...faults[0], errors: faults };
}

function sentencesOf(terminal: Terminal, error: unknown, settings: Settings | null): string[] {
  const lines = plain(messageOf(error)).split('\n');
  if (error instanceof ApplyError) {
    if (!(error.cause instanceof VestraError)) return lines;
    const codes = new Set(error.problems.flatMap(({ code }) => code ?? []));
    return [...lines, ...detailsOf(terminal, error.cause, settings, [...codes])];
  }
  if (!(error instanceof VestraError)) return lines;
  if (error.errors.length > 1) lines.push(...error.errors.map(({ param, message }) => plain(`${param}: ${message}`)));
  else if (error.param) lines.push(`at ${plain(error.param)}`);
  return [...lines, ...detailsOf(terminal, error, settings)];
}

/** Further details from the API, and the remedy. */
function detailsOf(
  { paintError }: Terminal,
  error: VestraError,
  settings: Settings | null,
  codes = [error.code],
): string[] {
  // A secret is stored for the mode of the key, so the same key must be used again.
  const again = settings?.again ? ` ${settings.again}` : '';
  const lines = error.names.map((name) => `vestra secrets set ${plain(name)}${again}`);
  if (error.status === 401 && settings?.source)
    lines.push(`The key is from ${settings.source}, sent to ${settings.url}.`);
  if (error.code === 'route_not_found' && settings?.url) lines.push(...pathHint(settings.url));
  const remedy = remedyOf(error);
  if (remedy) lines.push(remedy);
  const hint = moneyHint(codes, modeOfKey(settings?.key ?? null));
  if (hint) lines.push(hint);
  if (error.deployments.length > 0) lines.push(`deployments: ${plain(error.deployments.join(', '))}`);
  const facts = [...codes, error.requestId].filter((fact) => fact !== null);
  return error.status === 0 ? lines : [...lines, paintError('dim', facts.join(' · '))];
}

/** The address of a page, such as the console, is easily mistaken for the address of the server. */
function pathHint(address: string): string[] {
  const { pathname, origin } = new URL(address);
  return pathname === '/'
    ? []
    : [`The address of the server is set to ${address}. Try it without its path: ${origin}.`];
}

/** The catalogue's next step, for a message that is only the catalogue's sentence and names none. */
function remedyOf({ code, message, status }: VestraError): string | null {
  const isPlain = status >= 400 && errorCatalogue[code as ErrorCode]?.message === message;
  return isPlain ? (errorRemedies[code as ErrorCode] ?? null) : null;
}

function messageOf(error: unknown): string {
  if (error instanceof VestraError && ['connection_failed', 'connection_refused'].includes(error.code)) {
    return `${error.message.replace(/\.$/, '')}. Start a server with \`vestra start\`, or name another with --url.`;
  }
  if (error instanceof CommanderError) return sentence(error.message.replace(/^error: /, ''));
  return error instanceof Error ? error.message : String(error);
}

const sentence = (text: string) => {
  const said = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?)]$/.test(said) ? said : `${said}.`;
};

function isBody(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'error' in body;
}

const withoutKeys = (text: string) => text.replace(/\b(vk_(?:test|live)_|vst_|whsec_)[\w+/=-]{8,}/g, '$1…');
