/** The Node that runs our TypeScript on this machine; none when it has to be installed. */
export declare function findNode(): string | undefined

/** True for the versions that run TypeScript without a flag and have what we use. */
export declare function isNewEnough(version: string): boolean
