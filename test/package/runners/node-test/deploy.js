/** A cloud that deploys; one that knows its keys does not deploy the same twice. */
export const cloud = (knowsKeys) => ({
  releases: [],
  deploy(key) {
    if (!knowsKeys || !this.releases.includes(key)) this.releases.push(key);
  },
});

export const machine = {
  initial: 'deploy',
  final: ['done'],
  handlers: {
    deploy: async (_process, task, { cloud }) => {
      await cloud.deploy(`deploy-${task}`);
      return 'done';
    },
  },
};

/** Whether it was deployed once, and no more. */
export const invariant = ({ cloud }) => cloud.releases.length <= 1 || `deployed ${cloud.releases.length} times`;
export const eventually = ({ cloud }) => cloud.releases.length === 1;
