import { spawn } from 'node:child_process';
import { embed } from '@vestra/sdk/commands/embed';
import { misuse } from '../fault.ts';
import type { LocalInvocation } from '../invocation.ts';
import { printJson } from '../output/print-answer.ts';
import type { Terminal } from '../terminal.ts';

/** Opens a page of the server in the browser and prints its address. */
export async function open(invocation: LocalInvocation): Promise<void> {
  const { terminal, isJson, words } = invocation;
  const url = await addressOf(invocation, words[0] ?? 'chat');
  const isOpened = terminal.isInteractive && (await openInBrowser(terminal, url));
  if (isJson) return printJson(terminal, { url, opened: isOpened });
  terminal.out(`${url}\n`);
}

async function addressOf({ terminal, flags, settings, connect }: LocalInvocation, page: string): Promise<string> {
  const { user, deployment } = flags as { user?: string; deployment?: string };
  switch (page) {
    case 'chat':
      return (await embed(await connect(), { user, deployment }, { signal: terminal.signal })).url;
    case 'docs':
      return `${(await settings()).url}/docs`;
    case 'console':
      return `${(await settings()).url}/console`;
    default:
      throw misuse(`There is no page "${page}" to open. There are: chat, docs, console.`, '[page]');
  }
}

/** Uses the BROWSER variable if it is set, else the system's default. */
async function openInBrowser({ env }: Terminal, url: string): Promise<boolean> {
  const command = env.BROWSER || openers[process.platform] || 'xdg-open';
  const words = process.platform === 'win32' && !env.BROWSER ? ['url.dll,FileProtocolHandler', url] : [url];
  return new Promise((resolve) => {
    const child = spawn(command, words, { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

const openers: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'rundll32' };
