/** Names of the folders of commits, with the step and the commit's number. */
export const commitFolder = /^(\d+)\.orbax-checkpoint-tmp-webgpu-(\d{1,15})-[0-9a-f]{16}$/;

/** Whether a folder's name is that of a commit. */
export const isCommitFolder = (name: string): boolean => commitFolder.test(name);
