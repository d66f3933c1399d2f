import { useSuspenseQuery } from '@tanstack/react-query';
import { CodeSnippets } from '../../../components/code/code-snippets.tsx';
import {
  secretVariable,
  signedCurlSnippet,
  signedNodeSnippet,
} from '../../../data/workflows/event-snippets.ts';
import { workflowQuery } from '../../../data/workflows/workflows.ts';
import classes from './triggers.module.css';

/** Runnable code that signs and sends an event with the workflow's input. */
export function WebhookSnippets(props: { readonly workflowId: string; readonly path: string }) {
  const { input } = useSuspenseQuery(workflowQuery(props.workflowId)).data.definition;
  const names = [...input.required, ...input.optional];
  const event = Object.fromEntries(
    names.map((name) => [name, input.defaults[name] ?? `your ${name}`]),
  );
  const address = location.origin + props.path;
  return (
    <CodeSnippets
      languages={[
        { label: 'curl', code: signedCurlSnippet(address, event) },
        { label: 'Node', code: signedNodeSnippet(address, event) },
      ]}
    >
      <p className={classes.muted}>
        The code reads the secret from the environment variable <code>{secretVariable}</code>.
        Sending an event again with the same <code>webhook-id</code> does not start a second
        workflow run.
      </p>
    </CodeSnippets>
  );
}
