/**
 * Fences text by others. The fence is random for each conversation and task, so its author cannot know how to close it.
 * If the text contains the fence anyway, it is removed: the agent may have written it down.
 */
export function asData(fence: string, label: string, text: string): string {
  const name = label.replace(/[^\p{L}\p{N} ._-]/gu, ' ').slice(0, 128);
  return `<data-${fence} of="${name.replaceAll(fence, '…')}">\n${text.replaceAll(fence, '…')}\n</data-${fence}>`;
}

/** 96 bits cannot be guessed and cost few tokens. */
export function newFence(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString('hex');
}
