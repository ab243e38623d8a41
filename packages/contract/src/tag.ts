import { z } from 'zod';

/** The `object` of a resource, which identifies its kind. */
export const tag = <const Name extends string>(name: Name) =>
  z.literal(name).describe(`Always \`${name}\`: the type of this object.`);
