import type { QueuedExecution } from '../execution/queued-execution.ts';
import { renderedCharsMax } from './model-settings.ts';
import { type Prompt, render, type Template } from './prompt.ts';
import { defaultTexts, suppliedTexts } from './variables.ts';

/** The parts of an execution that its prompt is rendered from. */
export type Rendering = Pick<QueuedExecution, 'inputVariables'> & {
  readonly settings: Pick<QueuedExecution['settings'], 'defaults' | 'call'>;
};

/** The rendered prompt: supplied value, else the agent's default, else the empty string. Null if it is too long. */
export function renderPrompt(
  template: Template,
  { inputVariables, settings }: Rendering,
): Prompt | null {
  const texts = new Map([...defaultTexts(settings.defaults), ...suppliedTexts(inputVariables)]);
  const prompt = render(template, texts, renderedCharsMax);
  return prompt && settings.call ? { ...prompt, settings: settings.call } : prompt;
}
