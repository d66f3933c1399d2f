import type { TSchema } from 'typebox';
import type { ValidationError } from './validation-message.ts';

/**
 * The alternative of a union that an invalid value was meant to be. The validator reports the errors of each alternative, the
 * first one first: what another one lacks would say nothing about the mistake.
 */

export interface UnionMember {
  readonly schema: TSchema;
  readonly value: unknown;
  /** Path of the value, such as `/tools/0`. */
  readonly instancePath: string;
}

/** Of the outermost union above an error; null if there is none, or if no alternative has the type of the value. */
export function unionMember(
  schema: TSchema,
  value: unknown,
  { schemaPath, instancePath }: Pick<ValidationError, 'schemaPath' | 'instancePath'>,
): UnionMember | null {
  const places = instancePath.split('/').slice(1);
  let node = schema as Node;
  let inside = value;
  let consumed = 0;
  const steps = schemaPath.split('/').slice(1);
  for (let at = 0; at < steps.length && node !== undefined; at++) {
    const step = steps[at] ?? '';
    if (step === 'anyOf') {
      const member = bestOf(node.anyOf ?? [], inside);
      const path = places.slice(0, consumed).map((place) => `/${place}`);
      return member && { schema: member as TSchema, value: inside, instancePath: path.join('') };
    }
    node = node[step] as Node;
    if (step === 'properties' || step === 'patternProperties')
      node = node?.[steps[++at] ?? ''] as Node;
    if (!descends.has(step)) continue;
    inside = (inside as Record<string, unknown> | undefined)?.[places[consumed++] ?? ''];
  }
  return null;
}

/** Keywords whose schemas are those of what is in the value. */
const descends = new Set(['properties', 'patternProperties', 'additionalProperties', 'items']);

type Node = Readonly<Record<string, unknown>> & { readonly anyOf?: readonly Node[] };

/** The first of those with the fewest names that are missing or unknown. */
function bestOf(members: readonly Node[], value: unknown): Node | null {
  let best: Node | null = null;
  let fewest = Infinity;
  for (const member of members) {
    const wrong = wrongNames(member, value);
    if (wrong >= fewest) continue;
    fewest = wrong;
    best = member;
  }
  return best;
}

function wrongNames({ type, properties = {}, required = [] }: Node, value: unknown): number {
  if (typeof type === 'string' && type.replace('integer', 'number') !== typeOf(value)) {
    return Infinity;
  }
  if (type !== 'object') return 0;
  const isKnown = (name: string) => Object.hasOwn(properties as object, name);
  const fields = Object.keys(value as object);
  const missing = (required as string[]).filter((name) => !fields.includes(name));
  return missing.length + fields.filter((name) => !isKnown(name)).length;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
