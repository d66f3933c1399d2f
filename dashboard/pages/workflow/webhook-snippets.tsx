import { useSuspenseQuery } from '@tanstack/react-query';
import { Snippets } from '../../components/code-snippets.tsx';
import { secretVariable, signedCurlOf, signedNodeOf } from '../../data/workflows/event-snippets.ts';
import { workflowQuery } from '../../data/workflows/workflows.ts';
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
    <Snippets
      languages={[
        { label: 'curl', code: signedCurlOf(address, event) },
        { label: 'Node', code: signedNodeOf(address, event) },
      ]}
    >
      <p className={classes.none}>
        The code reads the secret from the environment variable <code>{secretVariable}</code>.
        Sending an event again with the same <code>webhook-id</code> does not start a second
        workflow run.
      </p>
    </Snippets>
  );
}
