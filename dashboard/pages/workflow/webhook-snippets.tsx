import { SegmentedControl } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { secretVariable, signedCurlOf, signedNodeOf } from '../../data/event-snippets.ts';
import { workflowQuery } from '../../data/workflows.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import classes from './triggers.module.css';

const languages = [
  { value: 'curl', label: 'curl', write: signedCurlOf },
  { value: 'node', label: 'Node', write: signedNodeOf },
] as const;

/** Code that signs and sends an event as it is pasted, with the workflow's own input. */
export function WebhookSnippets(props: { readonly workflowId: string; readonly path: string }) {
  const { input } = useSuspenseQuery(workflowQuery(props.workflowId)).data.definition;
  const [chosen, choose] = useState<string>('curl');
  const { label, write } = languages.find(({ value }) => value === chosen) ?? languages[0];
  const names = [...input.required, ...input.optional];
  const event = Object.fromEntries(
    names.map((name) => [name, input.defaults[name] ?? `your ${name}`]),
  );
  return (
    <div className={classes.snippets}>
      <SegmentedControl
        size="xs"
        aria-label="Language"
        data={languages.map(({ value, label }) => ({ value, label }))}
        value={chosen}
        onChange={choose}
      />
      <CodeBlock label={label} code={write(location.origin + props.path, event)} />
      <p className={classes.none}>
        The secret is read from the environment variable <code>{secretVariable}</code>. An event
        that is sent again under the same <code>webhook-id</code> starts no second run.
      </p>
    </div>
  );
}
