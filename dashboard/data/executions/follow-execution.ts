import { useEffect, useState } from 'react';
import type { EndedExecution, StreamEvent } from '../../../src/client/index.ts';
import { cueline } from '../client/client.ts';

/** Follows an execution: its text as it arrives. Returns the record once it has ended. */
export async function followExecution(
  { agentId, executionId }: { readonly agentId: string; readonly executionId: string },
  signal: AbortSignal,
  onText: (text: string) => void,
): Promise<EndedExecution> {
  let text = '';
  for await (const event of cueline.stream(agentId, executionId, { signal })) {
    if (event.type === 'end') return event.data as EndedExecution;
    const next = textAfter(text, event);
    if (next !== text) onText(next);
    text = next;
  }
  throw new Error('The stream ended before the execution.');
}

function textAfter(text: string, { type, data }: StreamEvent): string {
  if (type === 'restart') return '';
  // A stream that is opened again may repeat nothing, but an offset cannot lie.
  return type === 'text' ? text.slice(0, data.offset) + data.text : text;
}

/** The text of an execution that has not ended, as it arrives; calls `onEnd` once it has ended. */
export function useLiveText(
  agentId: string,
  executionId: string,
  isRunning: boolean,
  onEnd: () => void,
): string {
  const [text, setText] = useState('');
  useEffect(() => {
    if (!isRunning) return;
    const leaving = new AbortController();
    setText('');
    // The record is polled as well, so a failure only costs the text.
    followExecution({ agentId, executionId }, leaving.signal, setText).then(onEnd, () => {});
    return () => leaving.abort();
  }, [agentId, executionId, isRunning, onEnd]);
  return text;
}
