import type { CallAdditions } from '../agent/conversation.ts';
import { renderedCharsMax } from '../agent/model-settings.ts';
import {
  type Prompt,
  placeholders,
  render,
  renderedChars,
  type Template,
} from '../agent/prompt.ts';
import { defaultTexts, suppliedTexts } from '../agent/variables.ts';
import type { QueuedExecution } from './queued-execution.ts';

/** The parts of an execution that its prompt is rendered from. */
export type Rendering = Pick<QueuedExecution, 'inputVariables' | 'variableValues'> & {
  readonly settings: Pick<QueuedExecution['settings'], 'defaults' | 'call' | 'additions'>;
};

/** The rendered prompt: supplied value, else the agent's default, else the empty string. Null if it is too long. */
export function renderPrompt(template: Template, rendering: Rendering): Prompt | null {
  return planPrompt(template, rendering)?.render() ?? null;
}

/** A prompt before it is rendered. */
export interface PromptPlan {
  /** Characters of the rendered templates, without what the caller adds. */
  readonly chars: number;
  render(): Prompt;
}

/** As `renderPrompt`. */
export function planPrompt(
  template: Template,
  { inputVariables, variableValues, settings: { defaults, call, additions } }: Rendering,
): PromptPlan | null {
  const texts = new Map([
    ...defaultTexts(defaults),
    ...suppliedTexts(inputVariables, variableValues, namesIn(template)),
  ]);
  const chars = renderedChars(template, texts);
  if (chars > renderedCharsMax) return null;
  return {
    chars,
    render() {
      const prompt = render(template, texts, additions?.reasoning);
      const complete = call ? { ...prompt, settings: call } : prompt;
      return additions ? withAdditions(complete, additions) : complete;
    },
  };
}

/** By template, which a cache keeps for all executions of a version. */
const names = new WeakMap<Template, readonly string[]>();

/** A call may supply a hundred thousand variables of which the prompt names one. */
function namesIn(template: Template): readonly string[] {
  const known = names.get(template) ?? placeholders(template);
  names.set(template, known);
  return known;
}

/** The prompt with what the caller adds: instructions after those of the version, and further tools. */
function withAdditions(prompt: Prompt, { instructions, tools, toolChoice }: CallAdditions): Prompt {
  const offered = {
    ...(tools.length > 0 && { tools: [...(prompt.tools ?? []), ...tools] }),
    ...(toolChoice !== null && { toolChoice }),
  };
  if (instructions === null) return { ...prompt, ...offered };
  const system = prompt.system === null ? instructions : `${prompt.system}\n\n${instructions}`;
  if (!prompt.messages) return { ...prompt, system, ...offered };
  const leading = prompt.messages.findIndex(({ role }) => role !== 'system');
  const at = leading < 0 ? prompt.messages.length : leading;
  const messages = prompt.messages.toSpliced(at, 0, { role: 'system', content: instructions });
  return { ...prompt, system, messages, ...offered };
}
