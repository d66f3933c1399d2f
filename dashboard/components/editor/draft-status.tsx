import { Button } from '@mantine/core';
import classes from './editor.module.css';

/** Shows above an editor whether it has unsaved changes, announces changes of that, and offers to discard them. */
export function DraftStatus(props: {
  readonly changed: boolean;
  /** The status, in full sentences. */
  readonly children: string;
  readonly onDiscard: () => void;
}) {
  return (
    <div className={classes.state}>
      <span role="status">{props.children}</span>
      {props.changed && (
        <Button variant="default" size="xs" onClick={props.onDiscard}>
          Discard draft
        </Button>
      )}
    </div>
  );
}
