/**
 * Preloaded by a process to shift its wall clock by `CUELINE_CLOCK_OFFSET_MS`. The monotonic clock is unchanged, as on a
 * machine with a wrong clock.
 */

const offsetMs = Number(process.env.CUELINE_CLOCK_OFFSET_MS);
delete process.env.CUELINE_CLOCK_OFFSET_MS;
const SystemDate = Date;
const nowMs = () => SystemDate.now() + offsetMs;

globalThis.Date = new Proxy(SystemDate, {
  apply: () => new SystemDate(nowMs()).toString(),
  construct: (_target, args, newTarget) =>
    Reflect.construct(SystemDate, args.length === 0 ? [nowMs()] : args, newTarget),
  get: (target, name) => (name === 'now' ? nowMs : Reflect.get(target, name)),
});
