import { Type } from 'typebox';

/** The format of an output: set by a version, overridden by an agent. */
export const responseFormat = Type.Object(
  {
    type: Type.Literal('json'),
    schema: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description:
        'JSON schema (draft 2020-12 or draft-07). Patterns are in RE2 syntax, and `$ref` refers to the same schema. At most 65536 characters.',
    }),
  },
  {
    additionalProperties: false,
    description:
      'The output must be JSON that matches a schema. It is passed to the provider where that supports it, else asked for in the system text, and always validated. The record has the value as `outputJson`.',
    examples: [
      {
        type: 'json',
        schema: {
          type: 'object',
          properties: { sentiment: { enum: ['good', 'bad'] } },
          required: ['sentiment'],
          additionalProperties: false,
        },
      },
    ],
  },
);
