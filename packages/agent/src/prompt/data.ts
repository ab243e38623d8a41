/**
 * Text of others, set apart. The fence is random and new for each conversation and each piece of work, so that whoever
 * wrote the text cannot have known how it ends; where the text has it all the same (the agent may have written it down), it is taken out.
 */
export function asData(fence: string, label: string, text: string): string {
  const name = label.replace(/[^\p{L}\p{N} ._-]/gu, ' ').slice(0, 128);
  return `<data-${fence} of="${name.replaceAll(fence, '…')}">\n${text.replaceAll(fence, '…')}\n</data-${fence}>`;
}

/** 96 bits: nobody guesses it, and it costs few tokens. */
export function newFence(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString('hex');
}
