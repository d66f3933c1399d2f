import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CallOptions } from '../../../src/models/port/model.ts';
import { rejectedReasoning } from '../../../src/models/request/reasoning-form.ts';

/** What providers say about the reasoning of earlier turns, and what helps. */

const call = { type: 'tool-call', toolCallId: 'c', toolName: 'find', input: {} } as const;
const signed: CallOptions['prompt'] = [
  { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 's' } } },
      call,
    ],
    providerOptions: { openaiCompatible: { reasoning_content: 'Hm.' } },
  },
];
const bare: CallOptions['prompt'] = [{ role: 'assistant', content: [call] }];

const thinking =
  'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).';

const texts: readonly (readonly [string, string, string | null, CallOptions['prompt']])[] = [
  ['Anthropic', thinking, 'thinkingOff', bare],
  [
    'Bedrock behind LiteLLM',
    `litellm.BadRequestError: BedrockException - {"message":"The model returned the following errors: ${thinking}"}`,
    ...(['thinkingOff', bare] as const),
  ],
  [
    'DeepSeek',
    'Missing `reasoning_content` field in the assistant message at message index 2. For more information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls',
    ...(['emptyReasoning', bare] as const),
  ],
  [
    'DeepSeek V4',
    'The `reasoning_content` in the thinking mode must be passed back to the API.',
    ...(['emptyReasoning', bare] as const),
  ],
  [
    'Moonshot',
    'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
    ...(['emptyReasoning', bare] as const),
  ],
  [
    'Gemini',
    'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance.',
    ...(['unsigned', bare] as const),
  ],
  [
    'Vertex AI',
    'Unable to submit request because function call `default_api:find` in the 2. content block is missing a `thought_signature`.',
    ...(['unsigned', bare] as const),
  ],
  [
    'Anthropic',
    'messages.1.content.0: Invalid `signature` in `thinking` block',
    'unreasoned',
    signed,
  ],
  [
    'Anthropic',
    'messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
    ...(['unreasoned', signed] as const),
  ],
  ['Gemini', 'Corrupted thought signature.', 'unreasoned', signed],
  ['Gemini', 'Thought signature is not valid.', 'unreasoned', signed],
  [
    'OpenAI',
    'The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.',
    ...(['unreasoned', signed] as const),
  ],
  [
    'OpenAI',
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    'unreasoned',
    signed,
  ],
  [
    'Groq',
    "'messages.1' : for 'role:assistant' property 'reasoning_content' is unsupported",
    'unreasoned',
    signed,
  ],
  ['Anthropic', '`temperature` may only be set to 1 when thinking is enabled.', null, signed],
  ['Anthropic', '`max_tokens` must be greater than `thinking.budget_tokens`.', null, signed],
  [
    'OpenAI',
    "Unsupported value: 'reasoning.effort' does not support 'minimal' with this model.",
    null,
    signed,
  ],
  [
    'AWS',
    'The request signature we calculated does not match the signature you provided.',
    null,
    bare,
  ],
];

describe('an objection to the reasoning of earlier turns', () => {
  for (const [server, text, form, prompt] of texts) {
    test(`${server}: ${text.slice(0, 80)}`, () => {
      assert.equal(rejectedReasoning(text, prompt, new Set()), form);
    });
  }

  test('no form is tried twice', () => {
    const [, text = ''] = texts[3] ?? [];
    assert.equal(rejectedReasoning(text, bare, new Set(['emptyReasoning'])), 'thinkingOff');
    assert.equal(rejectedReasoning(text, bare, new Set(['emptyReasoning', 'thinkingOff'])), null);
  });

  test('a prompt without an answer has none', () => {
    assert.equal(rejectedReasoning(thinking, signed.slice(0, 1), new Set()), null);
  });
});
