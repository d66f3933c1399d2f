import { Button } from '@mantine/core';
import classes from './editor.module.css';

/** Above an editor: whether what stands there is saved, told whenever that changes, and the way back to what is. */
export function DraftLine(props: {
  readonly changed: boolean;
  /** In full sentences. */
  readonly children: string;
  readonly onDiscard: () => void;
}) {
  return (
    <div className={classes.state}>
      <span role="status">{props.children}</span>
      {props.changed && (
        <Button variant="default" size="xs" onClick={props.onDiscard}>
          Discard the draft
        </Button>
      )}
    </div>
  );
}
