import type { QueuedExecution } from '../execution/queued-execution.ts';
import { renderedCharsMax } from './model-settings.ts';
import { render, type Template } from './prompt.ts';
import { defaultTexts, suppliedTexts } from './variables.ts';

/** What of a run its prompt is made of. */
export type Rendering = Pick<QueuedExecution, 'inputVariables'> & {
  readonly settings: Pick<QueuedExecution['settings'], 'defaults'>;
};

/** The prompt as it is sent: supplied value, else the agent's default, else nothing. Null where it grows too long. */
export function rendered(
  template: Template,
  { inputVariables, settings }: Rendering,
): Template | null {
  const texts = new Map([...defaultTexts(settings.defaults), ...suppliedTexts(inputVariables)]);
  return render(template, texts, renderedCharsMax);
}
