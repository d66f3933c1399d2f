import { Type } from 'typebox';
import * as limits from '../../../http/contract/contract-limits.ts';
import { patterns } from '../../../http/contract/patterns.ts';
import { oneOf } from '../../../http/contract/shared.ts';

/** Tools of servers in a version of a prompt. */

const closed = { additionalProperties: false } as const;
const toolName = {
  ...{ pattern: patterns.toolName.source, minLength: 1, maxLength: limits.toolNameMax },
};

const approval = Type.Union([
  oneOf(['always', 'never']),
  Type.Object(
    { when: Type.String({ minLength: 1, maxLength: limits.conditionMax }) },
    { title: 'ApprovalCondition', ...closed },
  ),
]);

const bind = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string', pattern: patterns.boundValue.source, maxLength: 200 },
  maxProperties: limits.variablesMax,
  description:
    'Properties of the schema whose values come from the call: `user`, `session` or `metadata.NAME`. The model does not see them and cannot override them. A call without such a value is 400 `MISSING_METADATA`.',
  examples: [{ customerId: 'metadata.customer' }],
});

/** How a caller writes it. */
export const ToolReference = Type.Object(
  {
    server: Type.String({ pattern: patterns.slug.source, description: 'Name of the tool server.' }),
    tool: Type.String({ ...toolName, description: 'Name of the tool on its server.' }),
    name: Type.Optional(
      Type.String({
        ...toolName,
        description:
          'As the model calls it, unique within the version. Default: that of the server.',
      }),
    ),
    description: Type.Optional(
      Type.String({
        maxLength: limits.toolDescriptionMax,
        description: "Instead of the server's.",
      }),
    ),
    approval: Type.Optional({
      ...approval,
      description:
        'Default: `always` unless `safe`. Approvals do not exist yet, so a tool that is not safe needs `never`.',
    }),
    safe: Type.Optional(
      Type.Boolean({
        description:
          'Whether calling it twice does no harm. A safe call whose outcome is unknown is sent again, up to three times. Default: `false`.',
      }),
    ),
    bind: Type.Optional(bind),
    resultLimit: Type.Optional(
      Type.Integer({
        ...{ minimum: limits.resultLimitMin, maximum: limits.resultLimitMax },
        description: `Bytes of a result that the model sees. Default: ${limits.resultLimitDefault}.`,
      }),
    ),
  },
  { title: 'ToolReference', ...closed },
);

/** How a version has it. */
export const VersionTool = Type.Object(
  {
    server: Type.String({ description: 'Name of the tool server.' }),
    tool: Type.String({ description: 'Name of the tool on its server.' }),
    name: Type.String({ description: 'As the model calls it.' }),
    description: Type.Optional(Type.String()),
    isDescribed: Type.Optional(
      Type.Boolean({ description: "Whether the description is the version's own." }),
    ),
    inputSchema: Type.Unsafe<Record<string, unknown>>({
      ...{ type: 'object', additionalProperties: true },
      description: 'JSON Schema of the arguments, with those of `bind`.',
    }),
    digest: Type.String({ description: "Of the server's definition when it was copied." }),
    approval: oneOf(['always', 'never']),
    safe: Type.Boolean(),
    bind,
    resultLimit: Type.Integer(),
    timeoutMs: Type.Integer({ description: 'For a request.' }),
  },
  { title: 'VersionTool' },
);
