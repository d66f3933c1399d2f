import { Type } from 'typebox';
import { templateRoles } from '../../../core/agent/messages.ts';
import { toolChoices } from '../../../core/agent/version-content.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { patterns } from '../../../http/contract/patterns.ts';
import { oneOf, optional } from '../../../http/contract/shared.ts';
import { ToolReference, VersionTool } from '../../tools/contract/version-tools-contract.ts';
import { callSettings } from './call-settings-contract.ts';

/** What a version sends beside the short form: messages and tools. */

const closed = { additionalProperties: false } as const;

const template = Type.String({
  ...{ minLength: 1, maxLength: limits.templateMax },
  description: 'Template of the text.',
});

const fileTemplate = (description: string) =>
  Type.String({ pattern: patterns.filePlaceholder.source, maxLength: 256, description });

const TemplatePart = Type.Union([
  Type.Object({ text: template }, { title: 'TextPart', ...closed }),
  Type.Object(
    { image: fileTemplate('Placeholder of an image: `{{photo}}`.') },
    { title: 'ImagePart', ...closed },
  ),
  Type.Object(
    { file: fileTemplate('Placeholder of a file: `{{contract}}`.') },
    { title: 'FilePart', ...closed },
  ),
]);

const parts = Type.Array(TemplatePart, {
  ...{ minItems: 1, maxItems: limits.partsMax },
  description:
    'Texts, images and files in order. The values of images and files are https URLs or data URLs; a variable that is one has no other use in the version, and without a value its part is left out. Only messages of the user may have them.',
});

const TemplateMessage = Type.Union([
  Type.Object(
    {
      role: oneOf(templateRoles, 'Author of the message.'),
      content: Type.Union([template, parts]),
    },
    { title: 'TemplateMessage', ...closed },
  ),
  Type.Object(
    {
      placeholder: Type.String({
        ...{ pattern: patterns.variableName.source, maxLength: limits.variableNameMax },
        description: 'Name of the variable whose value, a list of messages, is inserted here.',
      }),
    },
    { title: 'MessagePlaceholder', ...closed },
  ),
]);

const messages = Type.Array(TemplateMessage, {
  ...{ minItems: 1, maxItems: limits.messagesMax },
  description:
    'Messages in order, instead of `system` and `user`. `{"placeholder": "history"}` is the place of a list that the caller supplies as the variable of that name: `{role, content}`, assistant messages with `toolCalls`, and `{"role": "tool", "toolCallId", "content"}`. Its texts are not rendered. A last `assistant` message is the beginning of the answer, where the provider supports it.',
  examples: [
    [
      { role: 'system', content: 'Be {{tone}}.' },
      { placeholder: 'history' },
      { role: 'user', content: '{{question}}' },
    ],
  ],
});

const Tool = Type.Object(
  {
    name: Type.String({
      ...{ pattern: patterns.toolName.source, minLength: 1, maxLength: limits.toolNameMax },
      description: 'Unique within the version.',
    }),
    description: Type.Optional(
      Type.String({ maxLength: limits.toolDescriptionMax, description: 'What it does, and when.' }),
    ),
    parameters: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...{ type: 'object', additionalProperties: true },
        description: 'JSON Schema of the arguments, of type `object`. No arguments if omitted.',
      }),
    ),
  },
  { title: 'Tool', ...closed },
);

const bounds = { minItems: 1, maxItems: limits.toolsMax };

/** What a model was offered, whoever executes it. */
const offeredTools = Type.Array(Tool, {
  ...bounds,
  description: 'Tools that the model may call. The caller executes them.',
});

const tools = Type.Array(Type.Union([Tool, ToolReference]), {
  ...bounds,
  description:
    'Tools that the model may call: either tools that the caller executes, or tools of servers, which Cueline executes. The definitions of the latter are copied when the version is created.',
});

const versionTools = Type.Array(Type.Union([Tool, VersionTool]), {
  description: 'Tools that the model may call.',
});

const toolChoice = Type.Union(
  [
    oneOf(toolChoices),
    Type.Object({ tool: Type.String({ maxLength: limits.toolNameMax }) }, closed),
  ],
  {
    description:
      'Whether the model calls a tool: as it likes (`auto`, the default), never, always, or this one.',
  },
);

export const contentFields = optional({ messages, tools: versionTools, toolChoice });

export const contentInputs = optional({
  messages: Type.Union([messages, Type.Null()]),
  tools: Type.Union([tools, Type.Null()]),
  toolChoice: Type.Union([toolChoice, Type.Null()]),
});

const ToolCall = Type.Object(
  {
    id: Type.String({ description: 'For the `toolCallId` of the result.' }),
    name: Type.String({ description: 'Name of the tool.' }),
    arguments: Type.Unsafe<unknown>({
      description: 'An object, or a text that is no JSON object.',
    }),
  },
  { title: 'ToolCall' },
);

export const ToolCalls = Type.Array(ToolCall, {
  description: 'Calls of tools, for the caller to execute.',
});

/** A file that was sent. */
const SentFile = Type.Object(
  {
    variable: Type.String({ description: 'The variable that supplied it.' }),
    type: Type.Optional(Type.String({ description: 'Media type.' })),
    bytes: Type.Optional(Type.Integer()),
    sha256: Type.Optional(Type.String({ description: 'Hash of the contents, in hex.' })),
  },
  { title: 'File' },
);

export const SentFiles = Type.Array(SentFile, {
  description:
    'Images and files among the variables. `type`, `bytes` and `sha256` are absent for URLs, whose contents are unknown.',
});

const sentFile = Type.Union([Type.String(), SentFile], {
  description: 'A URL, or the file whose contents are in the variable.',
});

/** A message as sent. */
const SentMessage = Type.Object(
  {
    role: oneOf(['system', 'user', 'assistant', 'tool'], 'Author of the message.'),
    content: Type.Union([
      Type.String(),
      Type.Array(
        Type.Union([
          Type.Object({ text: Type.String() }),
          Type.Object({ image: sentFile }),
          Type.Object({ file: sentFile }),
        ]),
      ),
    ]),
    toolCalls: Type.Optional(ToolCalls),
    toolCallId: Type.Optional(
      Type.String({ description: 'The call that a `tool` message answers.' }),
    ),
  },
  { title: 'Message' },
);

export const SentMessages = Type.Array(SentMessage, {
  description: 'Messages as sent to the model. For a version with `system` and `user`, these two.',
});

/** Beside the messages. */
export const sentFields = {
  tools: Type.Optional(offeredTools),
  toolChoice: contentFields.toolChoice,
  settings: Type.Optional(
    Type.Partial(Type.Object(callSettings), { description: 'The rarer settings of the call.' }),
  ),
};
