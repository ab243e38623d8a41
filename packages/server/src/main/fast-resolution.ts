import { registerHooks } from 'node:module';

/**
 * Node parses the export map of a package anew for each import of it, and for each file inside it. Drizzle's map has
 * 178 KB, and more than a hundred of our files and a hundred of its own ask for it: that was half of the time and of
 * the memory of a start. What was resolved once from our sources stays resolved, and inside Drizzle a relative path is
 * what it says.
 */
const resolved = new Map<string, ReturnType<Parameters<typeof registerHooks>[0]['resolve'] & object>>();

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context;
    if (!parentURL?.startsWith('file:')) return next(specifier, context);
    if (parentURL.includes('/node_modules/drizzle-orm/') && specifier.startsWith('.')) {
      return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true };
    }
    if (!specifier.startsWith('drizzle-orm') || parentURL.includes('/node_modules/')) return next(specifier, context);
    const known = resolved.get(specifier) ?? { ...next(specifier, context), shortCircuit: true };
    resolved.set(specifier, known);
    return known;
  },
});
