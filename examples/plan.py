# A goal is known. Which motion reaches it, with which forces?
import kinegraph

swing_up = kinegraph.plan("models/tasks/cart_pole_swing_up.yaml")
print(f"the pole ends at {swing_up['pole.q'][-1]:.4f} rad, peak force {abs(swing_up['cart.tau']).max():.1f} N")
print(f"cost {swing_up.summary['cost']:.3f}, the roll-out misses by {swing_up.summary['miss_max']:.1e}")
