import { z } from 'zod';

/** The `object` of a resource: what a reader tells it apart by. */
export const tag = <const Name extends string>(name: Name) =>
  z.literal(name).describe(`Always \`${name}\`: what kind of object this is.`);
